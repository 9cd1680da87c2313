package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/experiment"
)

// axis is a condition that a sweep changes.
type axis struct {
	name, label string
	from, to    float64 // unless flags say otherwise
	least, most float64 // that a value can be
	whole       bool    // values are whole numbers
	set         func(s *study, v float64) error
	steps       []float64
	capacity    bool
	beyond      int // how often the search for the capacity may go on beyond the steps
}

// farther is how often that is where no flag sets the ends: to 1/32 or 32 times.
const farther = 5

func loadAxis(s *study) *axis {
	return &axis{
		name: "load", label: "rate scale", from: s.traffic.scale / 2, to: s.traffic.scale * 2, least: minScale, most: maxScale,
		set: func(s *study, v float64) error { s.traffic.scale = v; return nil },
	}
}

// axes are all conditions.
func axes(s *study) []*axis {
	blocks := float64(s.profile.KVBlocks)
	return []*axis{
		loadAxis(s),
		{
			name: "workers", label: "workers", whole: true, from: max(1, float64(s.workers/2)), to: min(maxSimWorkers, float64(s.workers*2)),
			least: 1, most: maxSimWorkers, set: func(s *study, v float64) error { s.workers = int(v); return nil },
		},
		{
			name: "staleness", label: "time between readings of the workers and between exchanges of the gateways, s", from: 0.1, to: 30,
			least: 0.001, most: 3600, set: func(s *study, v float64) error {
				interval := time.Duration(v * float64(time.Second))
				s.options.ScrapeInterval, s.options.SyncInterval = interval, interval
				return nil
			},
		},
		{
			name: "gateways", label: "gateways", whole: true, from: 1, to: 8, least: 1, most: maxGateways,
			set: func(s *study, v float64) error { s.options.Gateways = int(v); return nil },
		},
		{
			name: "cache", label: "KV blocks of a worker", whole: true, from: math.Round(blocks / 2), to: blocks * 2, least: 1, most: 1 << 24,
			set: func(s *study, v float64) error {
				s.profile = s.profile.AssumeKVBlocks(int(v))
				_, err := engine.New(s.profile)
				return err
			},
		},
	}
}

// axis reads the flags of a sweep.
func (s *study) axis(c *cli.Context) (*axis, error) {
	all := axes(s)
	k := slices.IndexFunc(all, func(a *axis) bool { return a.name == c.String("over") })
	if k < 0 {
		return nil, usage("--over %q: give load, workers, staleness, gateways or cache", c.String("over"))
	}
	a := all[k]
	for _, x := range []struct {
		flag string
		v    *float64
	}{{"from", &a.from}, {"to", &a.to}} {
		if c.IsSet(x.flag) {
			*x.v = c.Float64(x.flag)
		}
		if !(*x.v >= a.least && *x.v <= a.most) {
			return nil, usage("--%s %v: give a number from %v to %v", x.flag, *x.v, a.least, a.most)
		}
	}
	n := c.Int("steps")
	const maxSteps = 100
	if n < 1 || n > maxSteps {
		return nil, usage("--steps %d: give a number from 1 to %d", n, maxSteps)
	}
	if a.from > a.to {
		return nil, usage("--from %v is above --to %v", a.from, a.to)
	}
	a.steps = experiment.Steps(a.from, a.to, n)
	if a.whole {
		for i := range a.steps {
			a.steps[i] = math.Round(a.steps[i])
		}
	}
	a.steps = slices.Compact(a.steps)
	if a.capacity = c.Bool("capacity"); a.capacity && a.name != "load" {
		return nil, usage("--capacity is looked for over load, not over %s", a.name)
	}
	if !c.IsSet("from") && !c.IsSet("to") {
		a.beyond = farther
	}
	return a, nil
}

// at is the study at one value of the condition.
func (a *axis) at(s study, v float64) (*study, error) {
	if err := a.set(&s, v); err != nil {
		return nil, fmt.Errorf("%s %v: %w", a.name, v, err)
	}
	return &s, nil
}

func compareFloats(a, b float64) int { return cmp.Compare(a, b) }

// positive is a figure that 0 stands for an unknown of.
func positive(v float64) engine.Figure {
	if v > 0 {
		return engine.Known(v)
	}
	return engine.Figure{}
}
