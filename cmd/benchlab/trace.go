package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/report"
	"gatewayd/benchlab/trace"
)

func (p program) trace() *cli.Command {
	return &cli.Command{
		Name: "trace", Usage: "look at recorded traffic, convert and cut it", OnUsageError: wrongFlag, Action: group,
		Subcommands: []*cli.Command{p.traceInfo(), p.traceConvert(), p.traceCut()},
	}
}

func (p program) traceInfo() *cli.Command {
	return &cli.Command{
		Name: "info", Usage: "print what a trace holds; the built-in one if no file is given", ArgsUsage: "[FILE]",
		OnUsageError: wrongFlag,
		Flags:        append(placeFlags(), &cli.BoolFlag{Name: "json", Usage: "print JSON"}),
		Action: func(c *cli.Context) error {
			args, err := arguments(c)
			if err != nil {
				return err
			}
			if len(args) > 1 {
				return usage("trace info takes one file, not %d", len(args))
			}
			in, err := readArg(c, strings.Join(args, ""))
			if err != nil {
				return err
			}
			info := report.NewTraceInfo(in.trace, in.sha256)
			if c.Bool("json") {
				return info.WriteJSON(p.stdout)
			}
			return info.WriteText(p.stdout)
		},
	}
}

// readArg reads the trace that an argument names.
func readArg(c *cli.Context, name string) (input, error) {
	place, err := placeOf(c, name)
	if err != nil {
		return input{}, err
	}
	in, err := place.read()
	if err != nil {
		return input{}, usage("trace %s: %w", c.Command.Name, err)
	}
	return in, nil
}

func (p program) traceConvert() *cli.Command {
	return &cli.Command{
		Name: "convert", Usage: "write a trace in another form", ArgsUsage: "IN OUT", OnUsageError: wrongFlag,
		Description: "OUT ending in .gz or .zst is packed; - is standard output.",
		Flags: append(append(placeFlags(), writeFlags()...),
			&cli.StringFlag{Name: "to", Value: formOwn, Usage: "`FORM` to write: own, mooncake or csv"}),
		Action: func(c *cli.Context) error {
			in, out, err := readIn(c)
			if err != nil {
				return err
			}
			return p.writeTrace(c, in.trace, c.String("to"), out)
		},
	}
}

func (p program) traceCut() *cli.Command {
	return &cli.Command{
		Name: "cut", Usage: "write a part of a trace: a time, or whole sessions", ArgsUsage: "IN OUT", OnUsageError: wrongFlag,
		Description: "OUT ending in .gz or .zst is packed; - is standard output.",
		Flags: append(append(placeFlags(), writeFlags()...),
			&cli.DurationFlag{Name: "from", Usage: "keep what arrives at `TIME` or later, as 10m"},
			&cli.DurationFlag{Name: "to", Usage: "keep what arrives before `TIME`", DefaultText: "the end"},
			&cli.IntFlag{Name: "sessions", Usage: "keep `N` whole sessions, drawn by the seed"},
			&cli.StringFlag{Name: "as", Value: formOwn, Usage: "`FORM` to write: own, mooncake or csv"}),
		Action: func(c *cli.Context) error {
			in, out, err := readIn(c)
			if err != nil {
				return err
			}
			t, err := cut(c, in.trace)
			if err != nil {
				return err
			}
			return p.writeTrace(c, t, c.String("as"), out)
		},
	}
}

func cut(c *cli.Context, t *trace.Trace) (*trace.Trace, error) {
	if c.IsSet("sessions") {
		n := c.Int("sessions")
		if n < 1 {
			return nil, usage("--sessions %d: give a number of sessions", n)
		}
		return t.InferSessions(0).CutSessions(n, c.Uint64("seed")), nil
	}
	if t.Scope == trace.ScopeSession {
		return nil, usage("trace cut: the sessions of %s have no common clock; cut by --sessions, or convert it to csv or mooncake first", t.Name)
	}
	from, to := c.Duration("from"), c.Duration("to")
	if !c.IsSet("to") {
		to = time.Duration(1<<63 - 1)
	}
	if from < 0 || to <= from {
		return nil, usage("trace cut: from %v to %v is no time; give --from 0s or later and a later --to", from, to)
	}
	span := t.Requests[len(t.Requests)-1].At
	t = t.CutTime(from, to)
	if len(t.Requests) == 0 {
		return nil, usage("trace cut: no request arrives then; %s spans %v", t.Name, span)
	}
	return t, nil
}

// readIn reads the first of two arguments; out is the second.
func readIn(c *cli.Context) (in input, out string, err error) {
	args, err := arguments(c)
	if err != nil {
		return in, "", err
	}
	if len(args) != 2 {
		return in, "", usage("trace %s takes a file to read and one to write, not %d arguments", c.Command.Name, len(args))
	}
	if err := checkForm(c); err != nil {
		return in, "", err
	}
	in, err = readArg(c, args[0])
	return in, args[1], err
}

// checkForm refuses flags that contradict each other and a form that cannot be
// written.
func checkForm(c *cli.Context) error {
	flag := "to"
	if c.Command.Name == "cut" {
		flag = "as"
		if byTime := c.IsSet("from") || c.IsSet("to"); byTime == c.IsSet("sessions") {
			return usage("trace cut: give either --from and --to, or --sessions")
		}
	}
	switch form := c.String(flag); form {
	case formOwn, formMooncake, formCSV:
		return nil
	default:
		return usage("--%s %q: give own, mooncake or csv", flag, form)
	}
}

const (
	formOwn      = "own"
	formMooncake = "mooncake"
	formCSV      = "csv"
)

// told lists on standard error what was done to a trace.
func (p program) told(t *trace.Trace, out string) {
	fmt.Fprintf(p.stderr, "%d requests written to %s\n", len(t.Requests), out)
	for _, n := range t.Notes {
		fmt.Fprintln(p.stderr, "note:", n)
	}
}
