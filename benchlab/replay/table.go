package replay

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
)

// WriteText writes the report for people: what was sent, latencies, counts,
// warnings.
func (p *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "replayed %s (%d requests) to %s, model %s, %s\n", p.Trace.Name, p.Trace.Rows, p.Target, p.Model, p.Endpoint)
	fmt.Fprintf(&b, "timing %s, salt %s, prompts of %.3g bytes a token and %.3g tokens more\n", p.Timing, p.Salt, p.Tokens.BytesPerToken, p.Tokens.Fixed)
	if p.Dilation != 1 {
		fmt.Fprintf(&b, "one second of the trace took %v s; latencies are in the trace's time, the send lag is not\n", p.Dilation)
	}
	for _, note := range p.Trace.Notes {
		fmt.Fprintf(&b, "  %s\n", note)
	}
	b.WriteString("\n")
	p.latencies(&b)
	b.WriteString("\n")
	p.counts(&b)
	for _, text := range p.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// latencies writes one line for each kind of time.
func (p *Report) latencies(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tn\tmean\tp50\tp99\tmax\tp99 with failures\t")
	row := func(name string, n int, figures ...string) {
		fmt.Fprintf(t, "%s\t%d\t%s\t\n", name, n, strings.Join(figures, "\t"))
	}
	all := func(name string, s measure.Spread, scale float64, decimals int) {
		row(name, s.N, cell(s.Mean, scale, decimals), cell(s.P50, scale, decimals), cell(s.P99, scale, decimals),
			cell(s.Max, scale, decimals), cell(s.P99All, scale, decimals))
	}
	own := func(name string, s Spread) {
		row(name, s.N, cell(s.Mean, 1e3, 2), cell(s.P50, 1e3, 2), cell(s.P99, 1e3, 2), cell(s.Max, 1e3, 2), "")
	}
	all("TTFT s", p.Figures.TTFT, 1, 3)
	all("TPOT ms", p.Figures.TPOT, 1e3, 2)
	all("E2E s", p.Figures.E2E, 1, 3)
	own("chunk gap ms", p.Gaps.Mean)
	own("longest gap ms", p.Gaps.Longest)
	own("send lag ms", p.Lag)
	t.Flush()
}

// counts writes how many requests ended how.
func (p *Report) counts(b *strings.Builder) {
	f := &p.Figures
	fmt.Fprintf(b, "completed %d of %d requests, %.2f of %.2f a second, in %.0f s; %.2f a second within TTFT %v s and TPOT %v ms (%.1f %%)\n",
		f.Completed, f.Requests, f.Throughput, p.Attempted, p.Took, f.Goodput, p.SLO.TTFT, p.SLO.TPOT*1e3, 100*f.WithinSLO)
	for _, x := range p.Failures {
		fmt.Fprintf(b, "failed    %d: %s (first: %s)\n", x.Count, x.Kind, x.Message)
	}
	c := p.Counted
	fmt.Fprintf(b, "tokens    prompts %d, asked %d; answers %d, asked %d\n", c.Prompt, c.PromptAsked, c.Output, c.OutputAsked)
	fmt.Fprintf(b, "KV hit    %s %%\n", cell(f.KVHit, 100, 1))
	for _, w := range p.Workers {
		fmt.Fprintf(b, "worker    %s: %d completed, %d failed, KV hit %s %%\n", w.ID, w.Completed, w.Failed, cell(w.KVHit, 100, 1))
	}
}

// cell is a figure as the table shows it; "-" if it is unknown.
func cell(f engine.Figure, scale float64, decimals int) string {
	v, known := f.Value()
	if !known {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, v*scale)
}
