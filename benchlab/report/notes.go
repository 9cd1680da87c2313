package report

import (
	"fmt"
	"strings"

	"gatewayd/benchlab/sim/measure"
)

// entry writes a named paragraph, its lines under each other.
func entry(b *strings.Builder, name string, lines ...string) {
	const width = 11
	for _, l := range lines {
		if l != "" {
			fmt.Fprintf(b, "%s%s\n", pad(name, width), l)
			name = ""
		}
	}
}

// header says what was run.
func (s *Setup) header(b *strings.Builder) {
	t := &s.Trace
	rate := 0.0
	if t.Span > 0 {
		rate = float64(t.Rows) / t.Span
	}
	entry(b, "trace", fmt.Sprintf("%s (%s): %s requests in %.1f s, %.2f req/s, mean prompt %.0f and answer %.0f tokens",
		t.Name, t.Format, thousands(t.Rows), t.Span, rate, t.MeanInput, t.MeanOutput),
		t.Origin,
		"sha256 "+t.SHA256,
		fmt.Sprintf("blocks of %d tokens, ids compared over: %s, %s", t.BlockTokens, t.Scope, t.Partial),
		strings.Join(t.Notes, "; "))
	p := &s.Profile
	entry(b, "workers", fmt.Sprintf("%d x %s (%d x %s), KV cache of %s tokens each in blocks of %d",
		s.Workers, p.Name, max(p.GPUs, 1), p.GPU, thousands(p.KVBlocks*p.BlockTokens), p.BlockTokens), s.zones())
	entry(b, "run", fmt.Sprintf("seed %d, rate scale %v; virtual delays: plans %v ms, Route calls %v ms",
		s.Seed, s.RateScale, s.PlanDelay*1e3, s.DecisionDelay*1e3))
}

func (s *Setup) zones() string {
	var zones []string
	for _, z := range s.Zones {
		zones = append(zones, fmt.Sprintf("%s at %v gCO2e/kWh", z.Name, z.GramsPerKWh))
	}
	return fmt.Sprintf("in zones in turn: %s (%s); PUE %v", strings.Join(zones, ", "), s.Zones[0].Source, s.PUE)
}

// notes says what the figures mean and how they came about.
func (c *Comparison) notes(b *strings.Builder) {
	var decided, problems []string
	for i := range c.Contenders {
		decided = append(decided, c.Contenders[i].decided())
		problems = append(problems, c.Contenders[i].problems()...)
	}
	entry(b, "decided", decided...)
	entry(b, "problems", problems...)
	s := &c.Setup
	entry(b, "figures", fmt.Sprintf("* best of the column; - unknown; percentiles by nearest rank, p99 only from %d samples on", measure.MinP99),
		"KV hit: prompt tokens served from prefix caches, over all prompt tokens of completed requests",
		"TTFT: arrival at the gateway to first token; TPOT: mean time of a request's later tokens",
		"imbalance: highest over mean of the workers' completed requests, and of the tokens computed for them (uncached prompt and answer)",
		fmt.Sprintf("goodput: completed requests with TTFT <= %v s and TPOT <= %v ms, per second from first arrival to last ending", s.TTFT, s.TPOT*1e3),
		"prefill util: share of the workers' time in which a request waited for its first token there",
		"energy: GPUs only and only while they step; carbon: that energy times PUE times the zone's intensity",
		"churn: mean share of a key's workers replaced by a new plan (1 - Jaccard)")
}

// decided says who placed how many requests, and why.
func (c *Contender) decided() string {
	var parts []string
	for i := 0; i < len(c.Decisions); {
		d, n := c.Decisions[i], 0
		for ; i < len(c.Decisions) && c.Decisions[i].Strategy == d.Strategy && c.Decisions[i].Reason == d.Reason; i++ {
			n += c.Decisions[i].Count
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", d.Strategy, d.Reason, thousands(n)))
	}
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	return c.Name + ": " + strings.Join(parts, ", ")
}

// problems lists what failed and which plans were not made.
func (c *Contender) problems() []string {
	var lines []string
	for _, f := range c.Figures.Failures {
		lines = append(lines, fmt.Sprintf("%s: %s requests failed, %s", c.Name, thousands(f.Count), f.Kind))
	}
	if f := &c.Figures; f.Completed < f.Requests && f.Requests >= measure.MinP99 {
		p99 := "infinite"
		if v, known := f.TTFT.P99All.Value(); known {
			p99 = fmt.Sprintf("%.3f s", v)
		}
		lines = append(lines, fmt.Sprintf("%s: the table's times are of completed requests; p99 of TTFT with failed ones as infinite is %s", c.Name, p99))
	}
	for _, s := range c.Strategies {
		if s.Failed > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d plans of %s were not made, the first because: %s", c.Name, s.Failed, s.Name, s.FirstError))
		}
	}
	return lines
}
