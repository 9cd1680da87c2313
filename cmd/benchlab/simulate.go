package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
)

// outcome is one run and how long it took.
type outcome struct {
	*measure.Run
	ready    *prepared
	requests int
	took     time.Duration
	clocks   []*watched
}

// simulate runs one contender once on the given traffic.
func (s *study) simulate(ctx context.Context, c *contender, config sim.Config, progress func(ended int)) (*outcome, error) {
	began := time.Now()
	chain, clocks, err := c.open(ctx, config.Seed)
	if err != nil {
		return nil, err
	}
	config.Chain = chain
	// Gateways after the first one have instances of their own, which draw their
	// own numbers.
	config.Open = func(gateway int) ([]sim.Link, error) {
		more, others, err := c.open(ctx, config.Seed+uint64(gateway)<<gatewayBits)
		clocks = append(clocks, others...)
		return more, err
	}
	config.Options.Progress = progress
	defer func() { closeAll(clocks) }()
	run, err := sim.Run(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return &outcome{Run: run, requests: len(run.Requests), took: time.Since(began), clocks: clocks}, nil
}

// closeAll ends the instances that live in a plugin.
func closeAll(all []*watched) {
	for _, w := range all {
		if c, ok := w.Instance.(io.Closer); ok {
			c.Close()
		}
	}
}

const gatewayBits = 48 // seeds differ below, gateways above

// stopped is the error with which work ended, which may be the user's wish.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}
