package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gatewayd/benchlab/replay"
	"gatewayd/benchlab/sim/measure"
)

// slo is what a good request keeps; no bound of the twins depends on it.
func slo() measure.SLO { return measure.SLO{TTFT: 2 * time.Second, TPOT: 50 * time.Millisecond} }

// pair is one chain of strategies, simulated and live, in the engines' own time.
type pair struct {
	chain     string
	simulated measure.Figures
	live      measure.Figures
	lag       replay.Spread // of the sending, in wall seconds
	same      int           // requests that went to the same worker in both
	// shakenHit and shakenTTFT are how far the simulator's own figures move when
	// arrivals shift a little.
	shakenHit, shakenTTFT float64
	err                   error
}

// lead is how long before the traffic the simulator's gateway starts.
const lead = time.Second

// run sends the traffic through a real gateway, so much later, and simulates it
// with the times at which it was really sent: how late this machine was is not the
// gateway's doing.
func (s scene) run(ctx context.Context, bin, chain string, later time.Duration) (p pair) {
	p.chain = chain
	result, err := s.live(ctx, bin, chain, later)
	if err != nil {
		p.err = fmt.Errorf("%s: %w", chain, err)
		return p
	}
	run := result.Run()
	sent := *s.trace
	sent.Requests = slices.Clone(s.trace.Requests)
	for i := range min(len(run.Requests), len(sent.Requests)) {
		run.Requests[i].Arrived = result.Outcomes[i].Sent
		sent.Requests[i].At = result.Outcomes[i].Sent
		if i > 0 { // one that was very late was overtaken; a trace is in order
			sent.Requests[i].At = max(sent.Requests[i].At, sent.Requests[i-1].At)
		}
	}
	s.trace = &sent
	simulated, err := s.simulate(ctx, chain)
	if err != nil {
		p.err = err
		return p
	}
	p.simulated, p.live = measure.Of(simulated, slo()), measure.Of(run, slo())
	p.lag = result.Report(slo()).Lag
	if p.shakenHit, p.shakenTTFT, p.err = s.shaken(ctx, chain, &p.simulated); p.err != nil {
		return p
	}
	for i := range min(len(run.Requests), len(simulated.Requests)) {
		a, b := &simulated.Requests[i], &run.Requests[i]
		if a.Worker >= 0 && b.Worker >= 0 && simulated.Workers[a.Worker].ID == run.Workers[b.Worker].ID {
			p.same++
		}
	}
	return p
}

func (s scene) live(ctx context.Context, bin, chain string, later time.Duration) (*replay.Result, error) {
	if err := pause(ctx, later); err != nil {
		return nil, err
	}
	k, err := startStack(ctx, s, bin, chain)
	if err != nil {
		return nil, err
	}
	defer k.stop()
	target, err := k.target()
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, lead); err != nil {
		return nil, err
	}
	result, err := replay.Run(ctx, replay.Config{Trace: s.trace, Target: target, Model: model, Options: replay.Options{
		Dilation: s.dilation, Salt: salt, SessionHeader: "X-Session-Id", Endpoint: replay.Completions, Tokens: replay.Tokens{BytesPerToken: 4}, Timeout: 24 * time.Hour,
	}})
	if err == nil && result.Interrupted {
		err = context.Cause(ctx)
	}
	return result, err
}

// pause lets time pass.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Bounds of what may differ.
const (
	hitBound  = 0.01 // of the share of cached prompt tokens
	ttftBound = 0.05 // of the median TTFT, relative
)

// hit is by how much the live KV hit is higher.
func (p *pair) hit() float64 { return p.live.KVHit.Or(0) - p.simulated.KVHit.Or(0) }

// ttft is by how much the live median TTFT is longer, relative.
func (p *pair) ttft() float64 { return p.live.TTFT.P50.Or(0)/p.simulated.TTFT.P50.Or(1) - 1 }

// problems says what is out of bounds.
func problems(pairs []pair) (list []string) {
	complain := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for i := range pairs {
		p := &pairs[i]
		if p.live.Completed != p.live.Requests || p.simulated.Completed != p.simulated.Requests || p.live.Requests != p.simulated.Requests {
			complain("%s: %d of %d requests completed live, %d of %d simulated", p.chain, p.live.Completed, p.live.Requests, p.simulated.Completed, p.simulated.Requests)
		}
		if math.Abs(p.hit()) > hitBound {
			complain("%s: KV hit differs by %+.2f points, more than %v", p.chain, 100*p.hit(), 100*hitBound)
		}
		if math.Abs(p.ttft()) > ttftBound {
			complain("%s: median TTFT differs by %+.1f %%, more than %v", p.chain, 100*p.ttft(), 100*ttftBound)
		}
	}
	return append(list, swapped(pairs)...)
}

// swapped lists the contenders that the two twins rank differently, unless one of
// the twins sees a difference between them that is within the bounds: a tie.
func swapped(pairs []pair) (list []string) {
	for i := range pairs {
		for j := range pairs[:i] {
			a, b := &pairs[i], &pairs[j]
			for _, x := range []struct {
				figure          string
				simulated, live float64 // how much more a has, in bounds
			}{
				{"KV hit", (a.simulated.KVHit.Or(0) - b.simulated.KVHit.Or(0)) / hitBound, (a.live.KVHit.Or(0) - b.live.KVHit.Or(0)) / hitBound},
				{"median TTFT", math.Log(a.simulated.TTFT.P50.Or(1)/b.simulated.TTFT.P50.Or(1)) / ttftBound, math.Log(a.live.TTFT.P50.Or(1)/b.live.TTFT.P50.Or(1)) / ttftBound},
			} {
				if math.Abs(x.simulated) > 1 && math.Abs(x.live) > 1 && (x.simulated > 0) != (x.live > 0) {
					list = append(list, fmt.Sprintf("by %s, the twins rank %s and %s differently", x.figure, a.chain, b.chain))
				}
			}
		}
	}
	return list
}
