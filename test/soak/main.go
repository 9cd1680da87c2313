// Command soak holds the behaviour that shows only over minutes, or in milliseconds,
// with gatewayd in a process of its own: a line of docs/behaviour.md each, over its
// full time, with the figures that are asked of it. Lines whose figures need the
// machine take turns; those that mostly wait run beside them. It ends with status 1
// when a line does not hold.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// line is one behaviour that is held.
type line struct {
	name  string // in docs/behaviour.md
	what  string
	waits bool // it needs time and not the machine
	check check
}

// check runs a line. It returns an error only if it could not come to a result.
type check interface {
	run(ctx context.Context, l *lab) (*result, error)
}

// lines are all, over their full time.
var lines = []line{
	{"H01", "each event passes within 20 ms", false, delays{streams: 6, events: 20, gap: 200 * time.Millisecond, limit: 20 * time.Millisecond}},
	{"H11", "connections are reused", false, reuse{rate: 2000, busy: 500, span: time.Minute, streams: 1000}},
	{"H26", "a burst is refused at once", false, burst{room: 8, queue: 64, requests: 2000, parallel: 32, waves: 10, limit: 50 * time.Millisecond}},
	{"H58", "Redis fails and nobody notices", false, outage{rate: 100, span: 20 * time.Second, settle: 3 * time.Second, added: 20 * time.Millisecond, back: 2 * time.Second}},
	{"H10", "idle connections are closed silently", true, idle{every: 5 * time.Second, span: 5 * time.Minute, closes: []time.Duration{3 * time.Second, 5 * time.Second}}},
	{"H23", "steady streams last, silent ones end", true, silence{token: time.Second, slow: 45 * time.Second, span: 10 * time.Minute,
		head: 2 * time.Minute, first: 2 * time.Minute, gap: time.Minute, late: 2 * time.Second}},
}

// command runs the lines that are named, by default all.
func command(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(progress)
	bin := flags.String("bin", "bin", "folder of gatewayd")
	only := flags.String("lines", "", "run these only, as in \"H01 H26\"")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: there are only flags", flags.Arg(0))
	}
	chosen, err := choose(strings.Fields(*only))
	if err != nil {
		return err
	}
	l, err := newLab(*bin)
	if err != nil {
		return err
	}
	defer l.close()
	before := load()
	all := l.runAll(ctx, chosen, progress)
	fmt.Fprintf(out, "%d processors, load average %s at the start and %s at the end\n", runtime.NumCPU(), before, load())
	return report(out, chosen, all)
}

// choose returns the lines with these names, all if there are none.
func choose(names []string) ([]line, error) {
	if len(names) == 0 {
		return lines, nil
	}
	var chosen []line
	for _, name := range names {
		known := len(chosen)
		for _, l := range lines {
			if l.name == name {
				chosen = append(chosen, l)
			}
		}
		if len(chosen) == known {
			return nil, fmt.Errorf("there is no line %q; there are H01, H10, H11, H23, H26 and H58", name)
		}
	}
	return chosen, nil
}
