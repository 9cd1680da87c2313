package main

import (
	"math"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/signal"
)

func (s *study) readOptions(c *cli.Context) (err error) {
	o := &s.options
	if _, err = sim.ParseTiming(c.String("timing")); err != nil {
		return usage("--timing: %w", err)
	}
	if o.Signal, err = signal.Parse(c.String("signal")); err != nil {
		return usage("--signal: %w", err)
	}
	for _, text := range c.StringSlice("fault") {
		f, err := sim.ParseFault(text)
		if err != nil {
			return usage("--fault: %w", err)
		}
		o.Faults = append(o.Faults, f)
	}
	if o.Gateways = c.Int("gateways"); o.Gateways < 1 || o.Gateways > maxGateways {
		return usage("--gateways %d: give a number from 1 to %d", o.Gateways, maxGateways)
	}
	switch set := c.String("protect"); set {
	case "none":
	case "admitted":
		o.Protect = true
	default:
		return usage("--protect %q: give none or admitted", set)
	}
	o.SyncInterval, o.ScrapeInterval = c.Duration("sync-interval"), c.Duration("scrape-interval")
	if o.SyncInterval <= 0 || o.ScrapeInterval <= 0 {
		return usage("--sync-interval and --scrape-interval must be positive, as 1s")
	}
	o.PlanDelay, o.DecisionDelay = c.Duration("plan-delay"), c.Duration("decision-delay")
	if o.PlanDelay < 0 || o.DecisionDelay < 0 {
		return usage("--plan-delay and --decision-delay must not be negative")
	}
	return nil
}

func (s *study) readSeeds(c *cli.Context) error {
	n, first := c.Int("seeds"), c.Uint64("seed")
	if n < 1 || n > maxSeeds {
		return usage("--seeds %d: give a number from 1 to %d", n, maxSeeds)
	}
	if first > math.MaxUint64-maxSeeds {
		return usage("--seed %d: give a number up to %d", first, uint64(math.MaxUint64-maxSeeds))
	}
	for i := range n {
		s.seeds = append(s.seeds, first+uint64(i))
	}
	return nil
}

// conditions are the simulation's options as a report has them.
func (s *study) conditions() report.Options {
	o := &s.options
	out := report.Options{
		RateScale: s.traffic.scale, Timing: o.Timing.String(),
		PlanDelay: o.PlanDelay.Seconds(), DecisionDelay: o.DecisionDelay.Seconds(),
		Gateways: o.Gateways, Sync: o.SyncInterval.Seconds(), Scrape: o.ScrapeInterval.Seconds(), Signal: o.Signal.String(), Protect: "none",
		Faults: []string{},
	}
	if o.Protect {
		out.Protect = "admitted"
	}
	for _, f := range o.Faults {
		out.Faults = append(out.Faults, f.String())
	}
	return out
}
