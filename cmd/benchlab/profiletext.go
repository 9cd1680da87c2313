package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"gatewayd/benchlab/engine"
)

// write writes everything of one profile; - is unknown.
func (s *sheet) write(w io.Writer) error {
	q := resolved(s.Profile)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "profile\t%s\nmodel\t%s on %d x %s\nsource\t%s\n", s.Name, dash(s.Model), s.GPUs, dash(s.GPU), dash(s.Source))
	fmt.Fprintf(t, "step limits\t%s sequences, %s batched tokens\n", limit(q.MaxSeqs, engine.DefaultMaxSeqs), limit(q.MaxBatchedTokens, engine.DefaultMaxBatchedTokens))
	fmt.Fprintf(t, "KV tokens\t%s\npower\t%s\n\n", kvTokens(s.Profile), powerLaw(s.Power))
	fmt.Fprintln(t, "coefficient\tvalue\tunit\tat best\timplied per GPU\tof peak")
	limits := map[string]engine.Limit{}
	for _, l := range s.Limits {
		limits[l.Field] = l
	}
	for _, c := range []struct {
		field, unit string
		value       engine.Figure
	}{
		{"weights_ms", "ms", engine.Known(s.WeightsMS)},
		{"token_us", "us/token", engine.Known(s.TokenUS)},
		{"decode_ms", "ms", unlessZero(s.DecodeMS)},
		{"decode_seq_ms", "ms/seq", unlessZero(s.DecodeSeqMS)},
		{"decode_kctx_ms", "ms/kctx", engine.Known(s.DecodeKctxMS)},
		{"prefill_quadratic_us", "us/token/kctx", engine.Known(s.QuadUS)},
		{"overhead_ms", "ms", s.OverheadMS},
		{"overhead_seq_ms", "ms/seq", s.OverheadSeqMS},
		{"kv_blocks", "blocks", limits["kv_blocks"].Value},
		{"power", "W at most", limits["power"].Value},
	} {
		l := limits[c.field]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", c.field, digits(c.value), c.unit, digits(l.Bound), implied(l), percent(l.Share))
	}
	return t.Flush()
}

// unlessZero is unknown for a zero: no engine decodes for nothing, but a fit may
// hold the time in another coefficient.
func unlessZero(v float64) engine.Figure {
	if v == 0 {
		return engine.Figure{}
	}
	return engine.Known(v)
}

func limit(n, otherwise int) string {
	if n == 0 {
		n = otherwise
	}
	return strconv.Itoa(n)
}

func kvTokens(p engine.Profile) string {
	if p.KVBlocks == 0 {
		return "-"
	}
	size := p.BlockTokens
	if size == 0 {
		size = engine.DefaultBlockTokens
	}
	return strconv.Itoa(p.KVBlocks * size)
}

func powerLaw(p engine.Power) string {
	if _, known := p.Watts(1).Value(); !known {
		return "-"
	}
	return fmt.Sprintf("%v + %v*(1-exp(-B/%v)) W for B sequences, all GPUs; idle %s W", p.BaseW, p.RangeW, p.KneeSeqs, digits(p.IdleW))
}

func watts(p engine.Profile) string {
	if _, known := p.Power.Watts(1).Value(); !known {
		return "-"
	}
	return fmt.Sprintf("%.0f, %.0f, %.0f", p.Power.Watts(1).Or(0), p.Power.Watts(64).Or(0), p.Power.Watts(256).Or(0))
}

// implied is a limit's rate for one GPU, in a readable unit.
func implied(l engine.Limit) string {
	v, known := l.Implied.Value()
	switch {
	case !known:
		return "-"
	case l.Unit == "FLOP/s":
		return fmt.Sprintf("%.0f TFLOP/s", v/1e12)
	case l.Unit == "bytes/s":
		return fmt.Sprintf("%.2f TB/s", v/1e12)
	case l.Unit == "bytes":
		return fmt.Sprintf("%.1f GB with the weights", v/1e9)
	}
	return fmt.Sprintf("%.0f %s", v, l.Unit)
}

func rate(l engine.Limit) string {
	if v, known := l.Implied.Value(); known {
		return fmt.Sprintf("%.2f", v/1e12)
	}
	return "-"
}

func share(l engine.Limit) string {
	if _, known := l.Share.Value(); known {
		return " (" + percent(l.Share) + ")"
	}
	return ""
}

func percent(f engine.Figure) string {
	if v, known := f.Value(); known {
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return "-"
}

func digits(f engine.Figure) string {
	if v, known := f.Value(); known {
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return "-"
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
