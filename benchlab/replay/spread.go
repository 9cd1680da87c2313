package replay

import (
	"fmt"
	"math"
	"slices"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

// Spread sums up samples. Percentiles are by nearest rank; P99 is unknown for
// fewer samples than measure.MinP99.
type Spread struct {
	N    int           `json:"n"`
	Mean engine.Figure `json:"mean"`
	P50  engine.Figure `json:"p50"`
	P99  engine.Figure `json:"p99"`
	Max  engine.Figure `json:"max"`
}

// spread sorts its samples.
func spread(samples []float64) Spread {
	s := Spread{N: len(samples)}
	if s.N == 0 {
		return s
	}
	slices.Sort(samples)
	sum := 0.0
	for _, v := range samples {
		sum += v
	}
	rank := func(percent int) engine.Figure { return engine.Known(samples[(s.N*percent+99)/100-1]) }
	s.Mean, s.P50, s.Max = engine.Known(sum/float64(s.N)), rank(50), engine.Known(samples[s.N-1])
	if s.N >= measure.MinP99 {
		s.P99 = rank(99)
	}
	return s
}

const (
	// lagLimit is the least send lag, in wall seconds, that is worth a warning.
	lagLimit = 0.005
	// lagShare is the share of the median TTFT that it must be besides.
	lagShare = 0.02
	// tokenError is how far the server's counts may be from what was asked for.
	tokenError = 0.01
)

// warnings says what makes the figures doubtful.
func (r *Result) warnings(p *Report) []string {
	list := []string{}
	warn := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if r.Interrupted {
		warn("interrupted: %d of %d requests were sent and answered; the figures are theirs", p.Figures.Requests, p.Trace.Rows)
	}
	late := p.Lag.P99.Or(p.Lag.Max.Or(0))
	if late > lagLimit && late > lagShare*p.Figures.TTFT.P50.Or(0)*p.Dilation {
		warn("this machine could not keep up: requests were sent up to %.1f ms late (p99 or worst); latencies include it", late*1000)
	}
	for _, f := range p.Failures {
		if f.Kind == NotSent.String() {
			warn("%d requests were not sent, because too many were open; raise the limit or lower the rate", f.Count)
		}
	}
	c := p.Counted
	if off := float64(c.Prompt)/float64(max(c.PromptAsked, 1)) - 1; c.PromptAsked > 0 && math.Abs(off) > tokenError {
		warn("the server counted %+.1f %% prompt tokens against the trace; measure or state its bytes per token", 100*off)
	}
	if c.Short > 0 {
		warn("%d answers were shorter than asked for; the server does not take ignore_eos and min_tokens, or was not asked to", c.Short)
	}
	if p.Figures.Completed > 0 && c.WithoutCache == p.Figures.Completed {
		warn("the server reports no cached tokens (usage.prompt_tokens_details), so KV hit is unknown")
	}
	return list
}
