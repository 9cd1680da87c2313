package main

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"gatewayd/benchlab/experiment"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim/measure"
)

// climb runs all contenders at all steps of an axis, as many at a time as there
// are processors, which changes no result.
func (p program) climb(ctx context.Context, s *study, a *axis) (*report.Sweep, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	rows := s.traffic.size()
	c := &climber{
		study: s, axis: a, watch: newTiming(len(s.contenders)),
		turns: make(chan struct{}, runtime.GOMAXPROCS(0)),
		bar:   p.progress(len(s.contenders) * len(s.seeds) * len(a.steps) * rows), rows: rows,
	}
	out := &report.Sweep{Seeds: s.seeds, Over: a.name, Label: a.label, Warnings: []string{}, Contenders: make([]report.Series, len(s.contenders))}
	var all sync.WaitGroup
	for i := range s.contenders {
		all.Go(func() {
			series, err := c.series(ctx, i)
			if err != nil {
				fail(err)
			}
			out.Contenders[i] = series
		})
	}
	all.Wait()
	c.bar.close()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if rows < measure.MinP99 {
		out.Warnings = append(out.Warnings, "a p99 needs 100 requests or more; without one no load keeps the SLO")
	}
	out.Timing = c.watch.report(s)
	return out, nil
}

// climber runs contenders at values of a condition. Its methods may be called by
// several goroutines.
type climber struct {
	study *study
	axis  *axis
	watch *timing
	turns chan struct{} // one for each processor
	bar   *progress
	rows  int
}

// series is one contender at all values.
func (c *climber) series(ctx context.Context, i int) (report.Series, error) {
	out := report.Series{Name: c.study.contenders[i].name}
	rates := map[float64]float64{}
	probe := func(at float64, refined bool) (bool, error) {
		if refined {
			c.bar.expect(len(c.study.seeds) * c.rows)
		}
		p, err := c.point(ctx, i, at)
		if err != nil {
			return false, err
		}
		p.Refined = refined
		rates[at] = p.Rate
		out.Points = append(out.Points, p)
		return p.Meets, nil
	}
	if !c.axis.capacity {
		for _, at := range c.axis.steps {
			if _, err := probe(at, false); err != nil {
				return out, err
			}
		}
		return out, nil
	}
	ladder := experiment.Ladder{Steps: c.axis.steps, Beyond: c.axis.beyond}
	holds, fails, err := ladder.Search(probe)
	if err != nil {
		return out, err
	}
	slices.SortFunc(out.Points, func(a, b report.Point) int { return compareFloats(a.At, b.At) })
	out.Capacity = &report.Capacity{At: positive(holds), Rate: positive(rates[holds]), Fails: positive(fails)}
	return out, nil
}

// point runs a contender with all seeds at one value.
func (c *climber) point(ctx context.Context, i int, at float64) (report.Point, error) {
	s, err := c.axis.at(*c.study, at)
	if err != nil {
		return report.Point{}, err
	}
	figures := make([]measure.Figures, len(s.seeds))
	rates := make([]float64, len(s.seeds))
	errs := make([]error, len(s.seeds))
	var all sync.WaitGroup
	for k, seed := range s.seeds {
		all.Go(func() {
			c.turns <- struct{}{}
			defer func() { <-c.turns }()
			if errs[k] = context.Cause(ctx); errs[k] != nil {
				return
			}
			ready, err := s.traffic.prepare(seed)
			if err != nil {
				errs[k] = err
				return
			}
			o, err := s.simulate(ctx, &s.contenders[i], s.config(ready), c.bar.part())
			if err != nil {
				errs[k] = err
				return
			}
			c.watch.add(i, o)
			figures[k], rates[k] = measure.Of(o.Run, s.slo), ready.rate()
		})
	}
	all.Wait()
	rate := 0.0
	for k := range rates {
		if errs[k] != nil {
			return report.Point{}, errs[k]
		}
		rate += rates[k] / float64(len(rates))
	}
	return experiment.Point(at, rate, figures, s.slo), nil
}
