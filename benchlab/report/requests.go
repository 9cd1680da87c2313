package report

import (
	"encoding/json"
	"fmt"
	"io"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
)

// request is a line of WriteRequests. Times are in seconds from the trace's start.
type request struct {
	Contender string  `json:"contender"`
	Seed      uint64  `json:"seed"`
	Row       int     `json:"row"`            // of the traffic, from 0
	Line      int     `json:"line,omitempty"` // of the trace's file
	ID        string  `json:"id,omitempty"`   // as recorded
	Session   uint64  `json:"session,omitempty"`
	Gateway   int     `json:"gateway"`
	Worker    string  `json:"worker,omitempty"`
	Attempts  int     `json:"attempts"`
	Outcome   string  `json:"outcome"`
	Arrived   float64 `json:"arrived_s"`
	First     float64 `json:"first_token_s,omitempty"` // of completed requests
	Ended     float64 `json:"ended_s"`
	Prompt    int32   `json:"prompt_tokens"`
	Output    int32   `json:"output_tokens"`
	Cached    int32   `json:"cached_tokens"`
	// Tokens that were computed, by the reason why they were not cached; 0 of all
	// where the reasons are not known.
	Compulsory int32 `json:"compulsory_tokens"`
	Evicted    int32 `json:"evicted_tokens"`
	Elsewhere  int32 `json:"elsewhere_tokens"`
	Stale      int32 `json:"stale_tokens"`
}

// WriteRequests writes a line of JSON for each request of a run of traffic t.
func WriteRequests(w io.Writer, contender string, seed uint64, t *trace.Trace, run *measure.Run) error {
	if len(t.Requests) != len(run.Requests) {
		return fmt.Errorf("requests of %s: the run has %d, the traffic %d", contender, len(run.Requests), len(t.Requests))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range run.Requests {
		q, from := &run.Requests[i], &t.Requests[i]
		line := request{
			Contender: contender, Seed: seed, Row: i, Line: from.Line, ID: from.ID, Session: from.Session,
			Gateway: int(q.Gateway), Attempts: int(q.Attempts), Outcome: q.Outcome.String(),
			Arrived: q.Arrived.Seconds(), Ended: q.Ended.Seconds(),
			Prompt: q.Prompt, Output: q.Output, Cached: q.Cached,
			Compulsory: q.Compulsory, Evicted: q.Evicted, Elsewhere: q.Elsewhere, Stale: q.Stale,
		}
		if q.Worker >= 0 {
			line.Worker = run.Workers[q.Worker].ID
		}
		if q.Outcome == measure.Complete {
			line.First = q.First.Seconds()
		}
		if err := e.Encode(&line); err != nil {
			return err
		}
	}
	return nil
}
