package report

import (
	"fmt"
	"strings"
)

// header says what was run.
func (c *Comparison) header(b *strings.Builder) {
	c.Setup.header(b)
	s := &c.Statistics
	seeds := make([]string, len(s.Seeds))
	for i, n := range s.Seeds {
		seeds[i] = fmt.Sprint(n)
	}
	entry(b, "seeds", fmt.Sprintf("%s; %s resampled, which tell as much as %.0f equally large ones",
		strings.Join(seeds, ", "), count(s.Sessions, "session"), s.EffectiveSessions))
}

func (s *Setup) header(b *strings.Builder) {
	t := &s.Trace
	entry(b, "trace", fmt.Sprintf("%s (%s): %s in %.1f s, %.2f req/s, mean prompt %.0f and answer %.0f tokens",
		t.Name, t.Format, count(t.Rows, "request"), t.Span, t.Rate(), t.MeanInput, t.MeanOutput),
		t.Origin,
		"sha256 "+t.SHA256,
		fmt.Sprintf("blocks of %d tokens, ids compared over: %s, %s", t.BlockTokens, t.Scope, t.Partial),
		strings.Join(t.Notes, "; "))
	p := &s.Profile
	entry(b, "workers", fmt.Sprintf("%d x %s (%d x %s), KV cache of %s tokens each in blocks of %d",
		s.Workers, p.Name, max(p.GPUs, 1), p.GPU, thousands(p.KVBlocks*p.BlockTokens), p.BlockTokens), s.zones())
	entry(b, "assumed", s.Assumed...)
	entry(b, "run", s.Options.lines()...)
	for _, p := range s.Programs {
		entry(b, "plugin", fmt.Sprintf("%s sha256 %s", p.Path, p.SHA256))
	}
}

// withheld says what strategies do not learn, by the best signal of reuse that
// they have.
var withheld = map[string]string{
	"counters": "usage has no cached tokens: strategies learn of reuse by the workers' counters",
	"ttft":     "neither usage nor counters tell of reuse: strategies learn of it by times to first token",
	"none":     "strategies have no signal of reuse",
}

// lines says what differs from a plain run.
func (o *Options) lines() []string {
	timing := "requests arrive as recorded"
	if o.Timing == "sessions" {
		timing = "a turn follows its predecessor's answer after the client's think time"
	}
	lines := []string{fmt.Sprintf("%s, rate scale %v; virtual delays: plans %v ms, Route calls %v ms", timing, o.RateScale, o.PlanDelay*1e3, o.DecisionDelay*1e3)}
	if o.Gateways > 1 {
		lines = append(lines, fmt.Sprintf("%d gateways, which exchange their views every %v s", o.Gateways, o.Sync))
	}
	if o.Scrape > 0 {
		lines = append(lines, fmt.Sprintf("workers' own figures read every %v s", o.Scrape))
	}
	if text, ok := withheld[o.Signal]; ok {
		lines = append(lines, text)
	}
	if o.Protect == "admitted" {
		lines = append(lines, "workers evict blocks first whose key has no place in the plan")
	}
	for _, f := range o.Faults {
		lines = append(lines, "fault "+f)
	}
	return lines
}

func (s *Setup) zones() string {
	var zones []string
	for _, z := range s.Zones {
		zones = append(zones, fmt.Sprintf("%s at %v gCO2e/kWh", z.Name, z.GramsPerKWh))
	}
	if len(zones) == 0 {
		return ""
	}
	return fmt.Sprintf("in zones in turn: %s (%s); PUE %v", strings.Join(zones, ", "), s.Zones[0].Source, s.PUE)
}
