package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// outcome is what became of one line.
type outcome struct {
	result *result
	took   time.Duration
	err    error
}

// runAll runs the lines, those that need the machine one after the other, and tells of
// each when it is done.
func (l *lab) runAll(ctx context.Context, chosen []line, progress io.Writer) []outcome {
	all := make([]outcome, len(chosen))
	var running sync.WaitGroup
	var machine sync.Mutex
	for i, c := range chosen {
		running.Go(func() {
			if !c.waits {
				machine.Lock()
				defer machine.Unlock()
			}
			began := time.Now()
			all[i].result, all[i].err = c.check.run(ctx, l)
			all[i].took = time.Since(began)
			fmt.Fprintf(progress, "%s is done after %.0f s\n", c.name, all[i].took.Seconds())
		})
	}
	running.Wait()
	return all
}

// report prints a table and says what does not hold.
func report(out io.Writer, chosen []line, all []outcome) error {
	var wrong []error
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "line\tbehaviour\ttook\tresult\tmeasured")
	for i, o := range all {
		verdict, measured := "holds", ""
		switch {
		case o.err != nil:
			verdict = "failed"
			wrong = append(wrong, fmt.Errorf("%s: %w", chosen[i].name, o.err))
		default:
			measured = strings.Join(o.result.measured, "; ")
			for _, w := range append(o.result.broken, o.result.over...) {
				verdict = "FAILS"
				wrong = append(wrong, fmt.Errorf("%s: %s", chosen[i].name, w))
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%.0f s\t%s\t%s\n", chosen[i].name, chosen[i].what, o.took.Seconds(), verdict, measured)
	}
	return errors.Join(append(wrong, t.Flush())...)
}

// load returns the load average of the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
