package leastload

import (
	"math"
	"slices"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

func busyness(w router.Worker) float64 {
	return 4*float64(w.Load.InFlight) + 0.1*float64(w.Load.QueuedTokens)
}

func TestLeastBusyLikeTwin(t *testing.T) {
	script.Twin(t, LeastBusy(), nil, func(s script.Seen) []string {
		return script.Least(s.Workers, func(i int) float64 { return busyness(s.Workers[i]) })
	})
	script.Twin(t, LeastBusy(), router.Options{"mode": "seed"}, func(s script.Seen) []string {
		return script.Least(s.Workers, func(i int) float64 { return busyness(s.Workers[i]) })[:1]
	})
}

// TestChoicesLikeTwin draws the same workers and compares their loads.
func TestChoicesLikeTwin(t *testing.T) {
	for _, o := range []router.Options{nil, {"choices": "3", "load": "busyness"}, {"choices": "1"}, {"load": "queued-tokens"}} {
		choices := 2
		if o["choices"] != "" {
			choices = int(o["choices"][0] - '0')
		}
		load := func(w router.Worker) float64 { return float64(w.Load.InFlight) }
		switch o["load"] {
		case "busyness":
			load = busyness
		case "queued-tokens":
			load = func(w router.Worker) float64 { return float64(w.Load.QueuedTokens) }
		}
		script.Twin(t, Choices(), o, func(s script.Seen) []string {
			urn, drawn := slices.Clone(s.Workers), []router.Worker{}
			for i := 0; i < choices && len(urn) > 0; i++ {
				// Drawn without putting back: the place of the drawn one is taken by the first.
				j := router.Mix(s.Seed+uint64(i)) % uint64(len(urn))
				drawn = append(drawn, urn[j])
				urn[j] = urn[0]
				urn = urn[1:]
			}
			if len(s.Workers) <= choices {
				drawn = s.Workers
			}
			return script.Least(drawn, func(i int) float64 { return load(drawn[i]) })
		})
	}
}

// TestLatencyLikeTwin works from the latencies that the plan was made of.
func TestLatencyLikeTwin(t *testing.T) {
	script.Twin(t, Latency(), router.Options{"batch": "10"}, func(s script.Seen) []string {
		sum, seen, least := 0.0, 0.0, math.Inf(1)
		for _, w := range s.Planned.Fleet.Workers {
			if w.Load.Latency.Known() && w.Load.Latency.Value > 0 {
				sum, seen, least = sum+w.Load.Latency.Value, seen+1, min(least, w.Load.Latency.Value)
			}
		}
		return script.Least(s.Workers, func(i int) float64 {
			w := s.Planned.Fleet.Workers[slices.IndexFunc(s.Planned.Fleet.Workers, func(w router.Worker) bool { return w.ID == s.Workers[i].ID })]
			seconds := w.Load.Latency.Value
			switch {
			case seen == 0:
				seconds = 1
			case !w.Load.Latency.Known() || seconds == 0:
				seconds = sum / seen
			}
			if seen > 0 && seconds <= 1.25*least {
				seconds = least
			}
			batch := 10.0
			if w.Concurrency > 0 {
				batch = float64(w.Concurrency)
			}
			return math.Round(1e9 * (seconds + seconds/batch*float64(s.Workers[i].Load.InFlight)))
		})
	})
	script.Twin(t, Latency(), router.Options{"mode": "seed"}, func(s script.Seen) []string {
		latency := map[string]float64{}
		for _, w := range s.Planned.Fleet.Workers {
			if w.Load.Latency.Known() {
				latency[w.ID] = w.Load.Latency.Value
			}
		}
		return script.Least(s.Workers, func(i int) float64 { return latency[s.Workers[i].ID] })[:1]
	})
}
