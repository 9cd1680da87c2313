package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"gatewayd/benchlab/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "twin:", err)
		os.Exit(1)
	}
}

// run runs the twins and fails if they differ too much.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("twin", flag.ContinueOnError)
	bin := flags.String("bin", "bin", "folder of gatewayd and benchlab")
	chains := flags.String("strategies", "round-robin least-busy sticky cacheroute+sticky lmetric", "chains to compare")
	profile := flags.String("profile", "llama-3.1-8b-h100", "what the workers are")
	workers := flags.Int("workers", 4, "workers behind each gateway")
	dilation := flags.Float64("dilation", 4, "wall seconds per second of the traffic and the engines")
	x := traffic{apart: 10 * time.Millisecond}
	flags.IntVar(&x.turns, "turns", 2, "take sessions with at least so many requests")
	flags.IntVar(&x.rows, "requests", 300, "take so many requests")
	flags.Float64Var(&x.rate, "rate-scale", 1.8, "divides the recorded times")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s := scene{workers: *workers, dilation: *dilation, seed: 1, plan: 5 * time.Millisecond}
	var err error
	if s.trace, err = x.draw(s.seed); err != nil {
		return err
	}
	if s.profile, err = engine.ProfileByName(*profile); err != nil {
		return err
	}
	span := s.trace.Requests[len(s.trace.Requests)-1].At
	fmt.Fprintf(out, "%d requests of sessions with %d turns or more over %.0f s, %d workers (%s), dilation %v: about %.0f minutes\n",
		x.rows, x.turns, span.Seconds(), s.workers, s.profile.Name, s.dilation, span.Minutes()*s.dilation+1)
	pairs, err := s.all(ctx, *bin, strings.Fields(*chains))
	if err != nil {
		return err
	}
	table(out, pairs)
	if found := problems(pairs); len(found) > 0 {
		return errors.New("the twins differ:\n  " + strings.Join(found, "\n  "))
	}
	fmt.Fprintf(out, "the twins agree: KV hit within %v point, median TTFT within %v %%, one ranking\n", 100*hitBound, 100*ttftBound)
	return nil
}

// apart is the time between the starts of two chains, so that they do not send the
// same request at the same moment.
const apart = 3700 * time.Millisecond

// all runs all chains side by side: most of their time passes in timers.
func (s scene) all(ctx context.Context, bin string, chains []string) ([]pair, error) {
	pairs := make([]pair, len(chains))
	var running sync.WaitGroup
	for i, chain := range chains {
		running.Go(func() { pairs[i] = s.run(ctx, bin, chain, time.Duration(i)*apart) })
	}
	running.Wait()
	var errs []error
	for i := range pairs {
		errs = append(errs, pairs[i].err)
	}
	return pairs, errors.Join(errs...)
}

// table prints both twins side by side.
func table(out io.Writer, pairs []pair) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tKV hit %\t\t\t\tTTFT p50 s\t\t\t\tTTFT mean s\t\tTPOT mean ms\t\tsame\tlag p99\t")
	fmt.Fprintln(t, "strategies\tsim\t±\tlive\tpoints\tsim\t± %\tlive\tdiff %\tsim\tlive\tsim\tlive\tworker\tms\t")
	for i := range pairs {
		p := &pairs[i]
		a, b := &p.simulated, &p.live
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%+.2f\t%.4f\t%.1f\t%.4f\t%+.2f\t%.3f\t%.3f\t%.2f\t%.2f\t%d/%d\t%.1f\t\n", p.chain,
			100*a.KVHit.Or(0), 100*p.shakenHit, 100*b.KVHit.Or(0), 100*p.hit(),
			a.TTFT.P50.Or(0), 100*p.shakenTTFT, b.TTFT.P50.Or(0), 100*p.ttft(),
			a.TTFT.Mean.Or(0), b.TTFT.Mean.Or(0), 1e3*a.TPOT.Mean.Or(0), 1e3*b.TPOT.Mean.Or(0), p.same, b.Requests, 1e3*p.lag.P99.Or(p.lag.Max.Or(0)))
	}
	t.Flush()
}
