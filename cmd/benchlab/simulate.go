package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
)

// simulate opens all contenders and runs them.
func (p program) simulate(ctx context.Context, s *study) (*report.Comparison, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	h := newHost(p.stderr, fail)
	defer h.close()
	if err := s.open(ctx, h); err != nil {
		return nil, err
	}
	return p.race(ctx, s, fail)
}

func (s *study) open(ctx context.Context, all sources) error {
	for i := range s.contenders {
		if err := s.contenders[i].open(ctx, all, s.config.Seed); err != nil {
			return err
		}
	}
	return nil
}

// race runs the contenders, as many at a time as there are processors, which
// changes no result. The first error ends all of them.
func (p program) race(ctx context.Context, s *study, fail context.CancelCauseFunc) (*report.Comparison, error) {
	began := time.Now()
	results := make([]result, len(s.contenders))
	bar := p.progress(len(s.contenders), len(s.config.Trace.Requests))
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i := range s.contenders {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if results[i] = s.one(ctx, i, bar); results[i].err != nil {
				fail(results[i].err)
			}
		})
	}
	all.Wait()
	bar.close()
	if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
		return nil, errors.New("interrupted")
	} else if err != nil {
		return nil, err
	}
	c := &report.Comparison{Setup: s.setup}
	for i := range results {
		c.Contenders = append(c.Contenders, results[i].Contender)
	}
	p.timing(s, results, time.Since(began))
	return c, nil
}

// result is what came of one contender.
type result struct {
	report.Contender
	took time.Duration // wall time
	err  error
}

func (s *study) one(ctx context.Context, i int, bar *progress) result {
	began := time.Now()
	config := s.config
	config.Chain = s.contenders[i].links
	config.Options.Progress = func(ended int) { bar.ended[i].Store(int64(ended)) }
	run, err := sim.Run(ctx, config)
	if err != nil {
		return result{err: fmt.Errorf("%s: %w", s.contenders[i].name, err)}
	}
	return result{Contender: report.NewContender(s.contenders[i].name, run, s.slo), took: time.Since(began)}
}

// timing prints wall-clock figures.
func (p program) timing(s *study, results []result, took time.Duration) {
	requests := len(s.config.Trace.Requests)
	for i, r := range results {
		fmt.Fprintf(p.stderr, "%s: %.2f s, %.0f requests/s\n", r.Name, r.took.Seconds(), float64(requests)/r.took.Seconds())
		for _, w := range s.contenders[i].clocks {
			fmt.Fprintf(p.stderr, "  %s: plans: %v; Route calls: %v\n", w.name, &w.plans, &w.routes)
		}
	}
	fmt.Fprintf(p.stderr, "%d contenders, %d requests each: %.2f s on %d processors\n",
		len(results), requests, took.Seconds(), runtime.GOMAXPROCS(0))
}
