package weighted

import (
	"math"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata", Definition()) }

// TestLikeTwin compares with the sums written down as they are read.
func TestLikeTwin(t *testing.T) {
	for _, o := range []router.Options{
		nil,
		{"prefix": "2", "kv": "1", "queue": "1"},
		{"prefix": "1", "kv": "0", "queue": "0", "running": "1", "load": "1", "tokens": "1e6"},
	} {
		weight := func(name string) float64 {
			switch v := o[name]; {
			case v == "1e6":
				return 1e6
			case v != "":
				return float64(v[0] - '0')
			}
			return map[string]float64{"prefix": 3, "queue": 2, "kv": 2}[name]
		}
		script.Twin(t, Definition(), o, func(s script.Seen) []string {
			waiting := figure(s, func(l router.Load) router.Gauge { return l.Waiting })
			running := figure(s, func(l router.Load) router.Gauge { return l.Running })
			mean, known := 0.0, 0.0
			for _, w := range s.Workers {
				if w.Load.KVUsed.Known() {
					mean, known = mean+w.Load.KVUsed.Value, known+1
				}
			}
			return near(s.Workers, func(i int) float64 {
				kv := mean / max(1, known)
				if g := s.Workers[i].Load.KVUsed; g.Known() {
					kv = g.Value
				}
				return -(weight("prefix")*float64(s.Cached[i])/float64(s.Request.PromptTokens) +
					weight("queue")*relative(waiting, i) +
					weight("running")*relative(running, i) +
					weight("kv")*(1-kv) +
					weight("load")*0.5*(1-min(1, waiting[i]/128)) +
					weight("tokens")*(1-float64(s.Workers[i].Load.QueuedTokens)/4194304))
			})
		})
	}
}

// near is script.Least for sums, whose order of adding up does not matter.
func near(workers []router.Worker, cost func(i int) float64) []string {
	return script.Least(workers, func(i int) float64 { return math.Round(cost(i) * 1e9) })
}

// figure is a gauge of all workers, or their requests in flight if one is unknown.
func figure(s script.Seen, gauge func(router.Load) router.Gauge) (figures []float64) {
	for _, w := range s.Workers {
		if !gauge(w.Load).Known() {
			figures = nil
			for _, w := range s.Workers {
				figures = append(figures, float64(w.Load.InFlight))
			}
			return figures
		}
		figures = append(figures, gauge(w.Load).Value)
	}
	return figures
}

func relative(figures []float64, i int) float64 {
	low, high := figures[0], figures[0]
	for _, f := range figures {
		low, high = math.Min(low, f), math.Max(high, f)
	}
	if high == low {
		return 1
	}
	return (high - figures[i]) / (high - low)
}

func TestDrawn(t *testing.T) {
	count := [3]int{}
	for seed := range uint64(30_000) {
		count[drawn([]float64{1, 0, 3}, seed)]++
	}
	if count[1] != 0 || count[0] < 7200 || count[0] > 7800 {
		t.Errorf("30,000 draws by 1:0:3 went %v", count)
	}
	for seed := range uint64(100) {
		if i := drawn([]float64{0, 0}, seed); i < 0 || i > 1 {
			t.Errorf("drew %d of two", i)
		}
	}
}
