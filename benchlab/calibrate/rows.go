package calibrate

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"
)

// ReadRun reads a recording: meta.json, requests.jsonl and, if they are there,
// workload_hashed.jsonl and timeseries.csv, each plain or with .gz. Errors name
// the file and, where there is one, the line.
func ReadRun(dir fs.FS, name string) (*Run, error) {
	run := &Run{Name: name}
	meta, err := readMeta(dir, run)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	if err := readRequests(dir, run); err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	if meta.Requests != 0 && meta.Requests != len(run.Requests) {
		run.Notes = append(run.Notes, fmt.Sprintf("meta.json speaks of %d requests, requests.jsonl has %d", meta.Requests, len(run.Requests)))
	}
	caching := meta.Engine.PrefixCaching == nil || *meta.Engine.PrefixCaching
	err = readWorkload(dir, run, caching)
	if errors.Is(err, fs.ErrNotExist) {
		run.Notes, err = append(run.Notes, "no workload_hashed.jsonl: prompts are taken to share nothing"), nil
	}
	if err == nil {
		err = readSamples(dir, run)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	return run, nil
}

type requestRow struct {
	ID         string   `json:"request_id"`
	Input      int      `json:"input_toks"`
	Output     int      `json:"output_toks"`
	Arrival    *float64 `json:"arrival_time"` // s, wall clock
	Queued     *float64 `json:"queued_ts"`    // s, monotonic, as those below
	Scheduled  *float64 `json:"scheduled_ts"`
	FirstToken *float64 `json:"first_token_ts"`
	LastToken  *float64 `json:"last_token_ts"`
}

func (r requestRow) check() error {
	const longest = 1 << 24 // tokens
	if r.ID == "" || r.Input < 1 || r.Output < 1 || r.Input > longest || r.Output > longest {
		return fmt.Errorf("request_id %q, %d input_toks and %d output_toks: want a name and 1 to %d", r.ID, r.Input, r.Output, longest)
	}
	last := math.Inf(-1)
	for _, t := range []*float64{r.Queued, r.Scheduled, r.FirstToken, r.LastToken} {
		if t == nil || math.IsNaN(*t) || math.Abs(*t) > 1e12 || *t < last {
			return fmt.Errorf("request %q: queued_ts, scheduled_ts, first_token_ts and last_token_ts must be there, in this order of time", r.ID)
		}
		last = *t
	}
	if r.Arrival == nil {
		return fmt.Errorf("request %q has no arrival_time", r.ID)
	}
	return nil
}

func readRequests(dir fs.FS, run *Run) error {
	var rows []requestRow
	seen := map[string]bool{}
	err := eachRow(dir, "requests.jsonl", func(r requestRow) error {
		if seen[r.ID] {
			return fmt.Errorf("request %q is there twice", r.ID)
		}
		seen[r.ID] = true
		rows = append(rows, r)
		return r.check()
	})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("requests.jsonl has no request")
	}
	slices.SortStableFunc(rows, func(a, b requestRow) int {
		switch {
		case *a.Arrival < *b.Arrival:
			return -1
		case *a.Arrival > *b.Arrival:
			return 1
		}
		return 0
	})
	origin := math.Inf(1)
	for _, r := range rows {
		origin = min(origin, *r.Queued)
	}
	for _, r := range rows {
		at := func(t *float64) time.Duration { return time.Duration(math.Round((*t - origin) * 1e9)) }
		run.Requests = append(run.Requests, Request{
			ID: r.ID, Prompt: r.Input, Output: r.Output,
			Served: Served{Queued: at(r.Queued), FirstToken: at(r.FirstToken), LastToken: at(r.LastToken)},
		})
	}
	return nil
}
