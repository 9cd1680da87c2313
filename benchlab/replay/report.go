package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

// Format names the JSON form of a Report.
const Format = "gatewayd.benchlab.replay/1"

// Report is a replay in figures. Unknown figures are null. Times are in seconds:
// those of Figures and Gaps in the trace's time, Lag and Took in wall time.
type Report struct {
	Format   string   `json:"format"`
	Command  string   `json:"command,omitempty"`
	Target   string   `json:"target"`
	Model    string   `json:"model"`
	Endpoint Endpoint `json:"endpoint"`
	Trace    Traffic  `json:"trace"`

	Timing      Timing  `json:"timing"`
	Dilation    float64 `json:"dilation"` // wall seconds per second of the trace
	Salt        string  `json:"salt"`     // hexadecimal
	Tokens      Tokens  `json:"tokens"`
	Interrupted bool    `json:"interrupted"`
	Took        float64 `json:"took_s"`

	SLO       SLO             `json:"slo"`
	Figures   measure.Figures `json:"figures"`
	Attempted float64         `json:"attempted_per_s"` // requests due, completed or not, per second
	Failures  []Failure       `json:"failures"`        // by name
	Lag       Spread          `json:"send_lag_s"`      // from the scheduled time to the sending
	Gaps      Gaps            `json:"chunk_gaps"`
	Counted   Counted         `json:"counted"`
	Workers   []Worker        `json:"workers"`
	Warnings  []string        `json:"warnings"`
}

// Traffic says which trace was sent.
type Traffic struct {
	Name   string   `json:"name"`
	Origin string   `json:"origin,omitempty"`
	SHA256 string   `json:"sha256,omitempty"`
	Format string   `json:"format"`
	Rows   int      `json:"rows"`
	Notes  []string `json:"notes"`
}

// SLO is what a good request keeps, in seconds.
type SLO struct {
	TTFT float64 `json:"ttft_s"`
	TPOT float64 `json:"tpot_s"`
}

// Failure counts the failed requests of one kind.
type Failure struct {
	Kind    string `json:"kind"`
	Count   int    `json:"count"`
	Message string `json:"message"` // of the first
}

// Gaps are the times between two pieces of generated content, which servers send
// token by token or several at once. A request with one piece has none.
type Gaps struct {
	Mean    Spread `json:"mean_s"`    // of each request
	Longest Spread `json:"longest_s"` // of each request
}

// Counted compares what was asked for with what the server counted, over completed
// requests for which it did.
type Counted struct {
	PromptAsked  int64 `json:"prompt_tokens_asked"`
	Prompt       int64 `json:"prompt_tokens"`
	OutputAsked  int64 `json:"output_tokens_asked"`
	Output       int64 `json:"output_tokens"`
	Short        int   `json:"answers_too_short"`
	WithoutCache int   `json:"without_cached_tokens"` // completed, and not told how much was cached
}

// Worker is one worker's part, as far as a gateway named it.
type Worker struct {
	ID        string        `json:"id"`
	Completed int           `json:"completed"`
	Failed    int           `json:"failed"`
	KVHit     engine.Figure `json:"kv_hit"`
}

// Report sums the replay up.
func (r *Result) Report(slo measure.SLO) *Report {
	c := r.config
	p := &Report{
		Format: Format, Target: c.Target.Redacted(), Model: c.Model, Endpoint: c.Options.Endpoint,
		Trace:  Traffic{Name: c.Trace.Name, Origin: c.Trace.Origin, Format: c.Trace.Format, Rows: len(c.Trace.Requests), Notes: c.Trace.Notes},
		Timing: c.Options.Timing, Dilation: c.Options.Dilation, Salt: fmt.Sprintf("%016x", c.Options.Salt), Tokens: c.Options.Tokens,
		Interrupted: r.Interrupted, Took: r.Took.Seconds(),
		SLO:     SLO{slo.TTFT.Seconds(), slo.TPOT.Seconds()},
		Figures: r.Figures(slo), Failures: r.failures(), Counted: r.counted(), Workers: r.workers(),
	}
	p.Tokens.BytesPerToken = c.Options.Tokens.perToken()
	var lag, mean, longest []float64
	var last time.Duration
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if !o.counts() {
			continue
		}
		last = max(last, o.Scheduled)
		if o.Kind != NotSent {
			lag = append(lag, (o.Sent-o.Scheduled).Seconds()*c.Options.Dilation)
		}
		if o.Kind == Complete && o.Chunks > 1 {
			mean = append(mean, (o.Last-o.First).Seconds()/float64(o.Chunks-1))
			longest = append(longest, o.Gap.Seconds())
		}
	}
	p.Lag, p.Gaps = spread(lag), Gaps{spread(mean), spread(longest)}
	if last > 0 {
		p.Attempted = float64(p.Figures.Requests) / last.Seconds()
	}
	p.Warnings = r.warnings(p)
	return p
}

// failures counts the failed requests by name.
func (r *Result) failures() []Failure {
	counts := map[string]int{}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.counts() && o.Kind != Complete {
			counts[o.failure()]++
		}
	}
	list := []Failure{}
	for name, n := range counts {
		list = append(list, Failure{name, n, r.Messages[name]})
	}
	slices.SortFunc(list, func(a, b Failure) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return cmp.Compare(a.Kind, b.Kind)
	})
	return list
}

func (r *Result) counted() (c Counted) {
	for i := range r.Outcomes {
		o, asked := &r.Outcomes[i], &r.config.Trace.Requests[i]
		if o.Kind != Complete {
			continue
		}
		if o.Cached < 0 {
			c.WithoutCache++
		}
		if o.Prompt >= 0 {
			c.PromptAsked += int64(asked.Input)
			c.Prompt += int64(o.Prompt)
		}
		if o.Output >= 0 {
			c.OutputAsked += int64(max(asked.Output, 1))
			c.Output += int64(o.Output)
			if int(o.Output) < asked.Output {
				c.Short++
			}
		}
	}
	return c
}

func (r *Result) workers() []Worker {
	list := make([]Worker, len(r.Workers))
	cached, prompt := make([]int64, len(list)), make([]int64, len(list))
	for i, name := range r.Workers {
		list[i].ID = name
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		switch {
		case o.Worker < 0 || !o.counts():
		case o.Kind != Complete:
			list[o.Worker].Failed++
		default:
			list[o.Worker].Completed++
			if o.Cached >= 0 && o.Prompt > 0 {
				cached[o.Worker] += int64(o.Cached)
				prompt[o.Worker] += int64(o.Prompt)
			}
		}
	}
	for i := range list {
		if prompt[i] > 0 {
			list[i].KVHit = engine.Known(float64(cached[i]) / float64(prompt[i]))
		}
	}
	slices.SortFunc(list, func(a, b Worker) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// WriteJSON writes the report as indented JSON.
func (p *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(p)
}
