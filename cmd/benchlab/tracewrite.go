package main

import (
	"compress/gzip"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/trace"
)

// writeFlags say how a trace is written.
func writeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "to-block-size", Value: 512, Usage: "of mooncake: a block id stands for `N` prompt tokens"},
		&cli.BoolFlag{Name: "delays", Usage: "of mooncake: follow-ups state their delay after an answer in place of a timestamp"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` draws the sessions that are kept, and the starts of sessions without a common clock"},
		&cli.DurationFlag{Name: "session-window", Value: time.Hour, Usage: "sessions without a common clock start within `TIME`"},
	}
}

// writeTrace writes a trace to a file. Forms that cannot say that there is no
// common clock get one drawn.
func (p program) writeTrace(c *cli.Context, t *trace.Trace, form, name string) error {
	if c.Duration("session-window") <= 0 {
		return usage("--session-window %v: give a positive time", c.Duration("session-window"))
	}
	if form != formOwn {
		t = t.Superpose(trace.Superposition{Seed: c.Uint64("seed"), Window: c.Duration("session-window")})
	}
	write := t.WriteOwn
	switch form {
	case formMooncake:
		write = func(w io.Writer) error {
			return t.WriteMooncake(w, trace.MooncakeOptions{BlockTokens: c.Int("to-block-size"), Delays: c.Bool("delays")})
		}
		if err := t.Regroups(c.Int("to-block-size")); err != nil {
			return usage("--to-block-size: %w", err)
		}
	case formCSV:
		write = t.WriteCSV
	}
	if name == "-" {
		return write(p.stdout)
	}
	f, err := openFile(name)
	if err != nil {
		return usage("trace %s: %w", c.Command.Name, err)
	}
	if err := packed(f, name, write); err != nil {
		f.discard()
		return err
	}
	if err := f.keep(); err != nil {
		return err
	}
	p.told(t, name)
	return nil
}

// packed writes to w in the packing that the name says.
func packed(w io.Writer, name string, write func(io.Writer) error) error {
	var z io.WriteCloser
	switch {
	case strings.HasSuffix(name, ".gz"):
		z = gzip.NewWriter(w)
	case strings.HasSuffix(name, ".zst"):
		var err error
		if z, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20)); err != nil {
			return err
		}
	default:
		return write(w)
	}
	if err := write(z); err != nil {
		z.Close()
		return err
	}
	return z.Close()
}
