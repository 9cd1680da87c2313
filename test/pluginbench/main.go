// Pluginbench measures what calls into plugins cost, at both ends, beside a call
// in this process and a plain unary go-plugin call. All figures of one run are
// taken in turns, so that what else the machine does hits them alike; compare
// ratios, not figures of two runs. It fails when a limit is not kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"gatewayd/internal/heap"
)

// The limits, as ratios to a plain unary call of the same run.
const (
	maxLatency = 1.0     // p50 at one caller
	maxCPU     = 1 / 3.5 // of both ends, at 64 callers
	maxLate    = 0.01    // of an open loop's routes, beyond the decision deadline
	maxPush    = 200 * time.Millisecond
	maxPause   = 2.0 // p99 of decisions while a plan comes, to before
)

// deadline is a gateway's default for one decision.
const deadline = 25 * time.Millisecond

type settings struct {
	span    time.Duration
	rounds  int
	workers int
	rate    float64
	keys    int
}

func main() {
	if len(os.Args) > 1 && serve(os.Args[1]) {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pluginbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("pluginbench", flag.ContinueOnError)
	flags.DurationVar(&s.span, "span", time.Second, "length of one measurement")
	flags.IntVar(&s.rounds, "rounds", 5, "measurements of each kind, taken in turns; medians are shown")
	flags.IntVar(&s.workers, "workers", 16, "workers to choose from")
	flags.Float64Var(&s.rate, "rate", 20_000, "routes a second of the open loop")
	flags.IntVar(&s.keys, "keys", 1_000_000, "keys of the plan")
	if err := flags.Parse(args); err != nil {
		return err
	}
	defer heap.Raise(nil)() // as in gatewayd serve
	ends, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer ends.close()
	fmt.Fprintf(out, "%d workers, two loads and 16 blocks with each route, median of %d rounds of %v\n\n", s.workers, s.rounds, s.span)
	return errors.Join(calls(ctx, s, ends, out), plans(ctx, s, ends, out))
}
