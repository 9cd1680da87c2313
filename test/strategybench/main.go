// Strategybench measures the strategies beside naive twins and reference loops of the same
// run, in time of one core, and fails when a limit is not kept.
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "strategybench:", err)
		os.Exit(1)
	}
}

// run measures in rounds, each of all benchmarks one after the other, so that what
// else the machine does falls on all alike.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("strategybench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "measure so often and take the medians")
	each := flags.Duration("time", 300*time.Millisecond, "how long each benchmark runs in a round")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 || *each <= 0 {
		return fmt.Errorf("%d rounds of %v: both must be above 0", *rounds, *each)
	}
	folder, err := os.MkdirTemp("", "strategybench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := build(ctx, folder); err != nil {
		return err
	}
	all := samples{}
	for range *rounds {
		for _, r := range references() {
			if err := r.sample(all); err != nil {
				return err
			}
		}
		for _, s := range suites {
			if err := s.sample(ctx, folder, *each, all); err != nil {
				return err
			}
		}
	}
	if err := all.print(out, lines()); err != nil {
		return err
	}
	return errors.Join(all.over(lines())...)
}
