package calibrate

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"gatewayd/benchlab/engine"
)

// WriteText writes the validation as a table of times and one of errors, whose
// names are the paths in the JSON.
func (v *Validation) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.line("run %s: %s, %s, %d requests, the first %d left out", v.Run, v.Engine, v.Model, v.Requests, v.Skipped)
	p.line("profile %s: %s", v.Profile, v.Source)
	p.notes(v.Notes)
	p.errors(&v.Errors)
	return p.err
}

// WriteJSON writes the validation as indented JSON.
func (v *Validation) WriteJSON(w io.Writer) error { return writeJSON(w, v) }

// WriteText writes what was fitted, how sure it is, what is unknown, and how far
// the fit is off.
func (c *Calibration) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.line("run %s: %s, %d requests, fitted on the first %d", c.Run, c.Engine, c.Requests, c.Fitted)
	p.line("profile %s: %s on %d x %s", c.Profile.Name, c.Profile.Model, c.Profile.GPUs, orDash(c.Profile.GPU))
	p.notes(c.Notes)
	shares := map[string]engine.Figure{}
	for _, l := range c.Limits {
		shares[l.Field] = l.Share
	}
	p.line("")
	p.table(func(t io.Writer) {
		fmt.Fprintln(t, "coefficient\tvalue\tused\tunit\tstd err %\tmean TTFT per +10 %\tmean E2E per +10 %\tat least\t% of peak")
		for _, e := range c.Coefficients {
			fmt.Fprintf(t, "%s\t%s\t%.4g\t%s\t%s\t%+.2f\t%+.2f\t%s\t%s\n", e.Field, figure(e.Value, 4), e.Used, e.Unit,
				figure(e.StdErrPct, 2), e.TTFTPct, e.E2EPct, figure(e.Floor, 4), percentOf(shares[e.Field]))
		}
		for _, u := range c.Unknown {
			fmt.Fprintf(t, "%s\t-\t\t\t\t\t\t\t\n", u.Field)
		}
	})
	p.line("")
	for _, e := range c.Coefficients {
		if e.Why != "" {
			p.line("%s: %s", e.Field, e.Why)
		}
	}
	for _, u := range c.Unknown {
		p.line("%s: %s", u.Field, u.Why)
	}
	p.line("\nerrors over the fitted requests")
	p.errors(&c.InSample)
	if c.HeldOut != nil {
		p.line("\nerrors over the other %d requests", c.Requests-c.Fitted)
		p.errors(c.HeldOut)
	}
	return p.err
}

// WriteJSON writes the calibration as indented JSON.
func (c *Calibration) WriteJSON(w io.Writer) error { return writeJSON(w, c) }

func writeJSON(w io.Writer, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// printer writes until the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) notes(notes []string) {
	for _, n := range notes {
		p.line("note: %s", n)
	}
}

func (p *printer) table(rows func(io.Writer)) {
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	rows(t)
	if err := t.Flush(); p.err == nil {
		p.err = err
	}
}

func (p *printer) errors(e *Errors) {
	p.table(func(t io.Writer) {
		fmt.Fprintln(t, "figure\trecorded ms\tsimulated ms\terror %")
		for _, m := range []struct {
			name string
			e    *Error
		}{{"ttft", &e.TTFT}, {"tpot", &e.TPOT}, {"e2e", &e.E2E}} {
			r, s := &m.e.Recorded, &m.e.Simulated
			for _, row := range []struct {
				name                string
				recorded, simulated engine.Figure
				off                 engine.Figure
			}{
				{"mean", r.Mean, s.Mean, m.e.MeanPct}, {"p50", r.P50, s.P50, m.e.P50Pct},
				{"p90", r.P90, s.P90, m.e.P90Pct}, {"p99", r.P99, s.P99, m.e.P99Pct},
			} {
				fmt.Fprintf(t, "%s.%s_pct\t%s\t%s\t%s\n", m.name, row.name, fixed(row.recorded, "%.1f"), fixed(row.simulated, "%.1f"), fixed(row.off, "%+.2f"))
			}
			fmt.Fprintf(t, "%s.mape_pct\t\t\t%s\n", m.name, fixed(m.e.MAPEPct, "%.2f"))
		}
	})
}

// figure prints so many digits, or - when unknown.
func figure(f engine.Figure, digits int) string {
	if v, ok := f.Value(); ok {
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	return "-"
}

func fixed(f engine.Figure, format string) string {
	if v, ok := f.Value(); ok {
		return fmt.Sprintf(format, v)
	}
	return "-"
}

func percentOf(share engine.Figure) string {
	if v, ok := share.Value(); ok {
		return fmt.Sprintf("%.1f", 100*v)
	}
	return "-"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
