package replay

import (
	"bufio"
	"encoding/json"
	"io"
)

// Row is one request as a line of JSON. Times count from the replay's start in
// seconds of the trace; null is unknown.
type Row struct {
	Row       int      `json:"row"`  // of the replayed trace, from 0
	Line      int      `json:"line"` // of the trace's file, 0 if it has none
	ID        string   `json:"id,omitempty"`
	Session   uint64   `json:"session"`
	Scheduled float64  `json:"scheduled_s"`
	Sent      float64  `json:"sent_s"`
	First     *float64 `json:"first_content_s"`
	Ended     float64  `json:"ended_s"`
	TTFT      *float64 `json:"ttft_s"` // from the scheduled time
	Outcome   string   `json:"outcome"`
	Status    int      `json:"status"`
	Worker    string   `json:"worker,omitempty"`
	Asked     [2]int   `json:"tokens_asked"` // prompt, answer
	Prompt    *int32   `json:"prompt_tokens"`
	Output    *int32   `json:"output_tokens"`
	Cached    *int32   `json:"cached_tokens"`
	Chunks    int32    `json:"chunks"`
	Gap       float64  `json:"longest_gap_s"`
}

// WriteRows writes one line of JSON for each request that was sent, in the order
// of the trace.
func (r *Result) WriteRows(w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for i := range r.Outcomes {
		if r.Outcomes[i].Kind == Pending {
			continue
		}
		if err := lines.Encode(r.row(i)); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (r *Result) row(i int) Row {
	o, asked := &r.Outcomes[i], &r.config.Trace.Requests[i]
	row := Row{
		Row: i, Line: asked.Line, ID: asked.ID, Session: asked.Session, Scheduled: o.Scheduled.Seconds(), Sent: o.Sent.Seconds(),
		Ended: o.Ended.Seconds(), Outcome: o.Kind.String(), Status: int(o.Status), Asked: [2]int{asked.Input, asked.Output},
		Prompt: told(o.Prompt), Output: told(o.Output), Cached: told(o.Cached), Chunks: o.Chunks, Gap: o.Gap.Seconds(),
	}
	if o.Chunks > 0 {
		first, ttft := o.First.Seconds(), (o.First - o.Scheduled).Seconds()
		row.First, row.TTFT = &first, &ttft
	}
	if o.Worker >= 0 {
		row.Worker = r.Workers[o.Worker]
	}
	return row
}

// told is a count, nil if the server did not tell it.
func told(n int32) *int32 {
	if n < 0 {
		return nil
	}
	return &n
}
