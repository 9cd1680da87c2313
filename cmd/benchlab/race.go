package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"gatewayd/benchlab/experiment"
	"gatewayd/benchlab/report"
)

// race is what a comparison does besides running its contenders.
type race struct {
	baseline int
	capacity bool
	requests *requestLog // nil: not asked for
}

// race opens all contenders and runs them, as many at a time as there are
// processors, which changes no result. The first error ends all of them.
func (p program) race(ctx context.Context, s *study, r *race) (*report.Comparison, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	h := newHost(p.stderr, fail)
	defer h.close()
	for i := range s.contenders {
		if err := s.contenders[i].find(ctx, h); err != nil {
			return nil, err
		}
	}
	return p.compared(ctx, s, r)
}

// compared runs contenders that are open.
func (p program) compared(ctx context.Context, s *study, r *race) (*report.Comparison, error) {
	first, err := s.traffic.prepare(s.seeds[0])
	if err != nil {
		return nil, err
	}
	bounds, err := s.bounds(first)
	if err != nil {
		return nil, err
	}
	setup := s.setup(first)
	analysis, err := experiment.NewAnalysis(experiment.Plan{
		Setup: setup, Contenders: s.names(), Baseline: r.baseline, Seeds: s.seeds, SLO: s.slo,
	})
	if err != nil {
		return nil, err
	}
	pairs, err := s.pairs()
	if err != nil {
		return nil, err
	}
	all := shared{traffic: &s.traffic, seeds: s.seeds, uses: len(s.contenders) + len(pairs)}
	watch := newTiming(len(s.contenders))
	grid := experiment.Grid{Contenders: len(s.contenders) + len(pairs), Seeds: len(s.seeds), Parallel: runtime.GOMAXPROCS(0)}
	bar := p.progress(grid.Contenders * grid.Seeds * setup.Trace.Rows)
	err = experiment.Run(ctx, grid, func(ctx context.Context, c experiment.Cell) (*outcome, error) {
		ready, err := all.take(c.Seed)
		if err != nil {
			return nil, err
		}
		config, who := s.config(ready), c.Contender
		if k := who - len(s.contenders); k >= 0 {
			config.Options.Protect, who = false, pairs[k].contender
		}
		o, err := s.simulate(ctx, &s.contenders[who], config, bar.part())
		if err == nil {
			o.ready = ready
		}
		return o, err
	}, func(c experiment.Cell, o *outcome) error {
		for k := range pairs {
			if err := pairs[k].add(c, len(s.contenders)+k, o); err != nil {
				return err
			}
		}
		if c.Contender >= len(s.contenders) {
			watch.add(pairs[c.Contender-len(s.contenders)].contender, o)
			return nil
		}
		watch.add(c.Contender, o)
		if err := r.requests.add(s.contenders[c.Contender].name, o); err != nil {
			return err
		}
		return analysis.Add(c, o.ready.sessions(), o.Run)
	})
	bar.close()
	if err != nil {
		return nil, stopped(err)
	}
	result, err := analysis.Comparison()
	if err != nil {
		return nil, err
	}
	if result.Protection, err = effects(s, pairs); err != nil {
		return nil, err
	}
	experiment.AddBounds(result, bounds)
	result.Command, result.Version = s.command, built()
	result.Warnings = append(result.Warnings, s.twins()...)
	if r.capacity {
		if result.Capacity, err = p.capacity(ctx, s); err != nil {
			return nil, stopped(err)
		}
	}
	result.Timing = watch.report(s)
	return result, nil
}

// twins says which contenders are the same.
func (s *study) twins() []string {
	var out []string
	for _, c := range s.contenders {
		if name, _, again := strings.Cut(c.name, "#"); again {
			out = append(out, fmt.Sprintf("%s is the same as %s: if they differ, the lab is wrong", c.name, name))
		}
	}
	return out
}
