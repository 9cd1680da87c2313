package energy

import (
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

// TestJouleLikeTwin works out energy and time to first token from the definitions,
// worker by worker. The rate is low, so that the target of 2 s is
// often missed, and such that none is exactly at it.
func TestJouleLikeTwin(t *testing.T) {
	script.Twin(t, Joule(), router.Options{"prefill": "307.31", "batch": "8"}, func(s script.Seen) []string {
		return inTime(s, 307.31, 8, func(w router.Worker, uncached float64) float64 { return joules(s, w, uncached) })
	})
}

// TestCarbonLikeTwin has no readings, so every joule counts alike.
func TestCarbonLikeTwin(t *testing.T) {
	script.Twin(t, Carbon(), router.Options{"prefill": "307.31", "batch": "8"}, func(s script.Seen) []string {
		return inTime(s, 307.31, 8, func(w router.Worker, uncached float64) float64 { return joules(s, w, uncached) })
	})
}

// inTime returns the workers of the least cost among those within the target, else
// those of the least time.
func inTime(s script.Seen, rate, batch float64, cost func(w router.Worker, uncached float64) float64) []string {
	times, costs, any := make([]float64, len(s.Workers)), make([]float64, len(s.Workers)), false
	for i, w := range s.Workers {
		room := batch
		if w.Concurrency > 0 {
			room = float64(w.Concurrency)
		}
		uncached := max(1, float64(s.Request.PromptTokens-s.Cached[i]))
		times[i] = (float64(w.Load.QueuedTokens)+uncached)/rate + 2*float64(w.Load.InFlight)/room
		costs[i] = cost(w, uncached)
		any = any || times[i] <= 2
	}
	var allowed []int
	for i := range s.Workers {
		if !any || times[i] <= 2+1e-9 {
			allowed = append(allowed, i)
		}
	}
	value := costs
	if !any {
		value = times
	}
	least := value[allowed[0]]
	for _, i := range allowed {
		least = min(least, value[i])
	}
	var ids []string
	for _, i := range allowed {
		if value[i] <= least*(1+1e-9) {
			ids = append(ids, s.Workers[i].ID)
		}
	}
	return ids
}

// joules is what one more request costs a worker, and a little for each that is
// there.
func joules(s script.Seen, w router.Worker, uncached float64) float64 {
	var prefills, decodes, wakes, latencies mean
	for _, w := range s.Planned.Fleet.Workers {
		if p, d := perToken(w); d > 0 {
			prefills, decodes = prefills.with(p), decodes.with(d)
		}
		if w.Energy.WakeWatts > 0 {
			wakes = wakes.with(w.Energy.WakeWatts)
		}
		if w.Load.Latency.Known() && w.Load.Latency.Value > 0 {
			latencies = latencies.with(w.Load.Latency.Value)
		}
	}
	if decodes.n == 0 {
		return 4*float64(w.Load.InFlight) + 0.1*float64(w.Load.QueuedTokens)
	}
	prefill, decode := perToken(w)
	if decode == 0 {
		prefill, decode = prefills.value(), decodes.value()
	}
	prompt, output := 512.0, 256.0
	if s.Planned.PromptTokens > 0 {
		prompt = s.Planned.PromptTokens
	}
	if s.Planned.OutputTokens > 0 {
		output = s.Planned.OutputTokens
	}
	usual := 0.0
	for _, w := range s.Planned.Fleet.Workers {
		p, d := perToken(w)
		if d == 0 {
			p, d = prefills.value(), decodes.value()
		}
		usual += (p*prompt + d*output) / float64(len(s.Planned.Fleet.Workers))
	}
	cost := prefill*uncached + decode*s.Output + 0.001*usual*float64(w.Load.InFlight)
	if w.Load.InFlight > 0 || wakes.n == 0 {
		return cost
	}
	watts := w.Energy.WakeWatts
	if watts == 0 {
		watts = wakes.value()
	}
	return cost + watts*awake(s, w, latencies)
}

func perToken(w router.Worker) (prefill, decode float64) {
	prefill, decode = w.Energy.PrefillJoules, w.Energy.DecodeJoules
	if prefill == 0 {
		prefill = decode / 2
	}
	if decode == 0 {
		decode = prefill * 2
	}
	return prefill, decode
}

// awake is how long a request keeps the worker awake, as known when the plan was
// made.
func awake(s script.Seen, w router.Worker, latencies mean) float64 {
	for _, then := range s.Planned.Fleet.Workers {
		if then.ID == w.ID && then.Load.Latency.Known() && then.Load.Latency.Value > 0 {
			return then.Load.Latency.Value
		}
	}
	switch {
	case latencies.n > 0:
		return latencies.value()
	case s.Planned.OutputTokens > 0:
		return 0.020 * s.Output
	}
	return 0.020 * 256
}
