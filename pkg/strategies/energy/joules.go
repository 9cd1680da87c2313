package energy

import (
	"fmt"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
	"gatewayd/pkg/strategies/internal/row"
)

const (
	// prefillShare is the energy of a computed prompt token as a part of that of
	// an output token, where it is unknown: between 0.4 and 0.65 by measurement.
	prefillShare = 0.5
	// spreadShare is what a request in flight adds to the cost of a worker, as a
	// part of a mean request's energy: workers that cost the same share the
	// load, and a real difference still decides.
	spreadShare = 0.001
	// meanPrompt and meanOutput are the lengths of a request, in tokens, until
	// the pool's means are known.
	meanPrompt, meanOutput = 512, 256
)

// figure is what one worker is expected to spend: J, or g after scaling.
type figure struct {
	prefill float64 // per computed prompt token
	decode  float64 // per output token, marginal
	wake    float64 // per second awake that an idle worker would have slept
}

type figures []figure

// scale turns joules into another unit.
func (f figures) scale(perJoule []float64) {
	for i := range f {
		f[i].prefill *= perJoule[i]
		f[i].decode *= perJoule[i]
		f[i].wake *= perJoule[i]
	}
}

// overheads returns the PUE of each worker; where it is unknown, the mean of the
// known ones, so that unknown is neither good nor bad.
func overheads(workers []router.Worker) []float64 {
	var known mean
	for _, w := range workers {
		if w.Energy.PUE > 0 {
			known = known.with(max(1, w.Energy.PUE))
		}
	}
	pue := make([]float64, len(workers))
	for i, w := range workers {
		switch {
		case w.Energy.PUE > 0:
			pue[i] = max(1, w.Energy.PUE)
		case known.n > 0:
			pue[i] = known.value()
		default:
			pue[i] = 1
		}
	}
	return pue
}

// nominal stands for workers whose energy is unknown and taken to be equal.
func nominal(workers int) figures {
	f := make(figures, workers)
	for i := range f {
		f[i] = figure{prefill: prefillShare, decode: 1}
	}
	return f
}

// figures returns the energy figures of each worker, nil if none is known. What
// is unknown of a worker is expected to be the mean of the known ones: unknown
// is not free.
func (c config) figures(in router.PlanInput) (figures, string) {
	workers := in.Fleet.Workers
	f := make(figures, len(workers))
	var sum figure
	known, wakes := 0, 0
	for i, w := range workers {
		f[i] = ofWorker(w.Energy)
		if f[i].decode > 0 {
			sum.prefill += f[i].prefill
			sum.decode += f[i].decode
			known++
		}
		if f[i].wake > 0 {
			sum.wake += f[i].wake
			wakes++
		}
	}
	if known == 0 {
		return nil, "no energy figures: workers count as equal"
	}
	for i := range f {
		if f[i].decode == 0 {
			f[i].prefill, f[i].decode = sum.prefill/float64(known), sum.decode/float64(known)
		}
		if f[i].wake == 0 && wakes > 0 {
			f[i].wake = sum.wake / float64(wakes)
		}
	}
	if known < len(workers) {
		return f, fmt.Sprintf("energy of %d of %d workers unknown: taken as the mean", len(workers)-known, len(workers))
	}
	return f, ""
}

// ofWorker fills in one of prefill and decode energy from the other.
func ofWorker(e router.Energy) figure {
	f := figure{prefill: e.PrefillJoules, decode: e.DecodeJoules, wake: e.WakeWatts}
	switch {
	case f.prefill == 0:
		f.prefill = prefillShare * f.decode
	case f.decode == 0:
		f.decode = f.prefill / prefillShare
	}
	return f
}

// cost is dE = prefill * uncached + decode * output + wake * T * [idle], where T
// is the observed latency, or tpot times the output while none is known.
func (c config) cost(f figures, in router.PlanInput) router.Row {
	prompt, output := orElse(in.PromptTokens, meanPrompt), orElse(in.OutputTokens, meanOutput)
	n := len(f)
	prefill, decode, wake := make([]float64, n), make([]float64, n), make([]float64, n)
	seconds, observed := planner.Latencies(in.Fleet.Workers)
	mean, awake := 0.0, false
	for i := range f {
		prefill[i], decode[i] = f[i].prefill, f[i].decode
		mean += (f[i].prefill*prompt + f[i].decode*output) / float64(n)
		switch {
		case observed > 0:
			wake[i] = f[i].wake * seconds[i]
		case in.OutputTokens > 0:
			wake[i] = f[i].wake * c.tpot
		default:
			wake[i] = f[i].wake * c.tpot * meanOutput
		}
		awake = awake || wake[i] > 0
	}
	cost := router.Row{
		row.Each(router.Uncached, prefill),
		row.Each(router.OutputTokens, decode),
		row.Same(router.InFlight, spreadShare*mean),
	}
	switch {
	case !awake:
		return cost
	case observed == 0 && in.OutputTokens > 0:
		return append(cost, row.Each(router.IdleOutput, wake))
	default:
		return append(cost, row.Each(router.Idle, wake))
	}
}

func orElse(known, otherwise float64) float64 {
	if known > 0 {
		return known
	}
	return otherwise
}
