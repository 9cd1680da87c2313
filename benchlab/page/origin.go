package page

import (
	"fmt"
	"regexp"
	"strings"

	"gatewayd/benchlab/report"
)

// run says in few words what was run.
func run(s *report.Setup, seeds []uint64) []Fact {
	t, p := &s.Trace, &s.Profile
	return []Fact{
		{"traffic", fmt.Sprintf("%s, %s at %s req/s", t.Name, count(t.Rows, "request"), figures3(t.Rate()))},
		{"workers", fmt.Sprintf("%d × %s (%d × %s each)", s.Workers, p.Name, max(p.GPUs, 1), p.GPU)},
		{"SLO", fmt.Sprintf("TTFT ≤ %v s, TPOT ≤ %v ms", s.TTFT, rounded(s.TPOT*1e3))},
		{"repeated", count(len(seeds), "seed")},
	}
}

// traffic is the trace and what was done to it.
func traffic(s *report.Setup) Section {
	t := &s.Trace
	out := Section{ID: "traffic", Title: "Traffic", Facts: []Fact{
		{"trace", t.Name}, {"format", t.Format}, {"requests", decimal(float64(t.Rows), 0)},
		{"time from first to last", figures3(t.Span) + " s"}, {"rate", figures3(t.Rate()) + " req/s"},
		{"mean prompt", decimal(t.MeanInput, 0) + " tokens"}, {"mean answer", decimal(t.MeanOutput, 0) + " tokens"},
		{"ids", fmt.Sprintf("of %s, compared over: %s, %s", count(t.BlockTokens, "token"), t.Scope, t.Partial)},
	}}
	if t.Origin != "" {
		out.Facts = append(out.Facts, Fact{"origin", t.Origin})
	}
	if len(t.Notes) > 0 {
		out.NotesTitle = "What was repaired or reshaped before it was used:"
	}
	out.Notes = t.Notes
	return out
}

// origin is all that it takes to make the result again.
func origin(command []string, version string, s *report.Setup) Section {
	o, p := &s.Options, &s.Profile
	out := Section{ID: "origin", Title: "How to make this again", Facts: []Fact{
		{"benchlab", orUnknown(version)}, {"timing of requests", orUnknown(o.Timing)}, {"rate scale", fmt.Sprint(o.RateScale)},
		{"delay of plans", milliseconds(o.PlanDelay)}, {"delay of decisions", milliseconds(o.DecisionDelay)},
		{"gateways", gateways(o)}, {"workers' figures read every", fmt.Sprintf("%v s", o.Scrape)}, {"signal of reuse", orUnknown(o.Signal)}, {"evicted last", orUnknown(o.Protect)},
		{"KV cache of a worker", fmt.Sprintf("%s in blocks of %d", count(p.KVBlocks*p.BlockTokens, "token"), p.BlockTokens)},
	}}
	if len(command) > 0 {
		out.Code = []string{shell(command)}
	}
	t := Table{Caption: "Checksums of what was read", Columns: []Column{{Head: "file", Text: true}, {Head: "SHA-256", Text: true}}}
	t.Rows = append(t.Rows, Row{Series: -1, Cells: []Cell{{Text: s.Trace.Name}, {Text: orUnknown(s.Trace.SHA256)}}})
	for _, p := range s.Programs {
		t.Rows = append(t.Rows, Row{Series: -1, Cells: []Cell{{Text: p.Path}, {Text: orUnknown(p.SHA256)}}})
	}
	out.Tables = []Table{t}
	for _, a := range s.Assumed {
		out.Notes = append(out.Notes, "Assumed, not measured: "+a)
	}
	return out
}

func gateways(o *report.Options) string {
	if o.Gateways <= 1 {
		return "1"
	}
	return fmt.Sprintf("%d, in exchange every %v s", o.Gateways, o.Sync)
}

// statistics is where the intervals come from.
func (v *view) statistics() Section {
	s := &v.Statistics
	seeds := strings.Trim(fmt.Sprint(s.Seeds), "[]")
	out := Section{ID: "statistics", Title: "Where the intervals come from", Facts: []Fact{
		{"confidence", percent(s.Confidence)}, {"seeds", strings.ReplaceAll(seeds, " ", ", ")}, {"draws of the bootstrap", decimal(float64(s.Draws), 0)},
		{"sessions resampled", fmt.Sprintf("%s, as telling as %s of equal size", decimal(float64(s.Sessions), 0), decimal(s.EffectiveSessions, 0))},
	}}
	for _, n := range []string{s.Method, s.Correction} {
		if n != "" {
			out.Notes = append(out.Notes, capital(sentence(n)))
		}
	}
	return out
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%v ms", rounded(seconds*1e3)) }

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_./:=,+@%-]+$`)

// shell writes a command as one types it.
func shell(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if !bare.MatchString(a) {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
