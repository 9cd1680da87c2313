package replay

import (
	"math"
	"slices"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

// Result is what became of a replayed trace.
type Result struct {
	Outcomes    []Outcome     // by row of the trace
	Workers     []string      // as far as the server named them, in order of their first answer
	Interrupted bool          // it was ended before all had been sent and answered
	Took        time.Duration // wall time
	// Messages holds one message for each name of a failure, the first.
	Messages map[string]string

	config Config
}

// maxWorkers bounds the names of workers that are told apart.
const maxWorkers = math.MaxInt16

func newResult(c Config) *Result {
	r := &Result{config: c, Outcomes: make([]Outcome, len(c.Trace.Requests)), Messages: map[string]string{}}
	for i := range r.Outcomes {
		r.Outcomes[i] = Outcome{Prompt: -1, Output: -1, Cached: -1, Worker: -1}
	}
	return r
}

// take notes what became of a row.
func (r *Result) take(e ended) {
	if e.worker != "" {
		at := slices.Index(r.Workers, e.worker)
		if at < 0 && len(r.Workers) < maxWorkers {
			at = len(r.Workers)
			r.Workers = append(r.Workers, e.worker)
		}
		e.outcome.Worker = int16(at)
	}
	r.Outcomes[e.row] = e.outcome
	if e.outcome.Kind == Complete {
		return
	}
	if name := e.outcome.failure(); r.Messages[name] == "" {
		r.Messages[name] = e.message
	}
}

// counts reports whether a row is part of the measurement: it was sent, or should
// have been, and was not broken off by the replay's own end.
func (o *Outcome) counts() bool { return o.Kind != Pending && o.Kind != Interrupted }

// Run is the replay in the form that simulated traffic has too. Latencies count
// from the time that a request was to be sent. An interrupted replay has the
// requests that ended before.
func (r *Result) Run() *measure.Run {
	run := &measure.Run{}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.counts() {
			run.Requests = append(run.Requests, r.measured(i))
		}
	}
	for _, name := range r.Workers {
		run.Workers = append(run.Workers, measure.Worker{ID: name})
	}
	if len(run.Workers) == 0 {
		run.Workers = []measure.Worker{{ID: r.config.Target.Host}}
	}
	return run
}

// measured is one row. What the server does not tell of tokens is taken from the
// trace and from the pieces of content that came.
func (r *Result) measured(row int) measure.Request {
	o, asked := &r.Outcomes[row], &r.config.Trace.Requests[row]
	m := measure.Request{
		Arrived: o.Scheduled, First: o.First, Ended: o.Ended, Prompt: o.Prompt, Output: o.Output,
		Cached: max(o.Cached, 0), Worker: o.Worker, Outcome: o.Kind.outcome(o.Status), Attempts: 1,
	}
	if o.Prompt < 0 {
		m.Prompt = int32(asked.Input)
	}
	if o.Output < 0 {
		m.Output = o.Chunks
	}
	if len(r.Workers) == 0 {
		m.Worker = 0
	}
	if m.Outcome == measure.Complete {
		m.Ended = o.Last // the figures are about tokens; the end of the bytes follows
		m.Worker = max(m.Worker, 0)
	}
	return m
}

// outcome is the ending's name among the measurements.
func (k Kind) outcome(status int16) measure.Outcome {
	switch k {
	case Complete:
		return measure.Complete
	case Connect:
		return measure.Unreachable
	case TooLong:
		return measure.TooLong
	case Status:
		if status >= 400 && status < 500 {
			return measure.ClientError
		}
		return measure.ServerError
	case InBand:
		return measure.ServerError
	case TimedOut:
		return measure.TimedOut
	case Truncated:
		return measure.Cut
	case Empty:
		return measure.Empty
	default:
		return measure.NotSent
	}
}

// Figures measures the replay. What only an engine knows is unknown, and so is
// the share of cached tokens when the server reports none.
func (r *Result) Figures(slo measure.SLO) measure.Figures {
	f := measure.Of(r.Run(), slo)
	var cached, prompt int64
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Kind == Complete && o.Cached >= 0 && o.Prompt > 0 {
			cached += int64(o.Cached)
			prompt += int64(o.Prompt)
		}
	}
	f.KVHit = engine.Figure{}
	if prompt > 0 {
		f.KVHit = engine.Known(float64(cached) / float64(prompt))
	} else {
		f.ImbalanceTokens = engine.Figure{}
	}
	if len(r.Workers) == 0 {
		f.ImbalanceRequests, f.ImbalanceTokens = engine.Figure{}, engine.Figure{}
	}
	f.PrefillUtilisation, f.PrefillShare, f.Busy = engine.Figure{}, engine.Figure{}, engine.Figure{}
	return f
}
