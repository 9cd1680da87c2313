package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/experiment"
	"gatewayd/benchlab/report"
)

func (p program) sweep() *cli.Command {
	const seeds = 3
	return &cli.Command{
		Name:         "sweep",
		Usage:        "compare strategies at several values of one condition, and find how much load they bear",
		Description:  described(sweepHelp, sweepExamples),
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: slices.Concat(studyFlags(seeds), []cli.Flag{
			&cli.StringFlag{Name: "over", Value: "load", Usage: "the `CONDITION`: load (rate scale), workers, staleness (s between readings and exchanges), gateways, or cache (KV blocks)"},
			&cli.Float64Flag{Name: "from", Usage: "smallest `X`", DefaultText: "half of what the flags say, or 1 gateway, or 0.1 s"},
			&cli.Float64Flag{Name: "to", Usage: "largest `X`", DefaultText: "twice of what the flags say, or 8 gateways, or 30 s"},
			&cli.IntFlag{Name: "steps", Value: 5, Usage: "`N` values, in equal ratios"},
			&cli.BoolFlag{Name: "capacity", DefaultText: "off", Usage: "over load: find the largest load whose p99 of TTFT meets the SLO with at most 5 % failed"},
		}, outputFlags()),
		Action: p.runSweep,
	}
}

func (p program) runSweep(c *cli.Context) error {
	s, err := newStudy(c, p.args)
	if err != nil {
		return err
	}
	a, err := s.axis(c)
	if err != nil {
		return err
	}
	out, err := p.openOutputs(c)
	if err != nil {
		return err
	}
	defer out.discard()
	ctx, fail := context.WithCancelCause(c.Context)
	defer fail(nil)
	h := newHost(p.stderr, fail)
	defer h.close()
	for i := range s.contenders {
		if err := s.contenders[i].find(ctx, h); err != nil {
			return err
		}
	}
	first, err := s.traffic.prepare(s.seeds[0])
	if err != nil {
		return err
	}
	if _, err := s.bounds(first); err != nil {
		return err
	}
	result, err := p.climb(ctx, s, a)
	if err != nil {
		return stopped(err)
	}
	setup := s.setup(first)
	result.Setup, result.Command, result.Version = &setup, s.command, built()
	return out.write(result, result.Timing)
}

// capacity finds the largest loads around the load of a comparison.
func (p program) capacity(ctx context.Context, s *study) (*report.Sweep, error) {
	a := loadAxis(s)
	a.steps = experiment.Steps(a.from, a.to, capacitySteps)
	a.capacity, a.beyond = true, farther
	return p.climb(ctx, s, a)
}

const capacitySteps = 5
