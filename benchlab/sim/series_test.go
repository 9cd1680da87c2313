package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// TestSeries compares the buckets with the sum of all loads over time.
func TestSeries(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var s series
		const start = router.Time(1000)
		s.init(start, time.Duration(rng.IntN(1e9)), 3)
		now, load, total := start, [3]int{}, [3]float64{}
		for range 1 + rng.IntN(1000) {
			step := router.Time(rng.ExpFloat64() * 1e7)
			for i := range load {
				total[i] += float64(load[i]) * float64(step)
			}
			now += step
			i := rng.IntN(3)
			n := rng.IntN(5) - min(load[i], 2)
			load[i] += n
			s.change(now, i, n)
		}
		m := s.measured(now)
		if len(m.Load) != 2 || len(m.Queued) > measure.MaxBuckets || len(m.Load[0]) != len(m.Queued) {
			t.Fatalf("%d lines of %d buckets", len(m.Load), len(m.Queued))
		}
		for i, means := range [][]float32{m.Load[0], m.Load[1], m.Queued} {
			sum := 0.0
			for k, v := range means {
				width := min(m.Step, time.Duration(now-start)-time.Duration(k)*m.Step)
				sum += float64(v) * float64(width)
			}
			if math.Abs(sum-total[i]) > 1e-4*total[i]+1 {
				t.Errorf("seed %d, line %d: %v request-ns, want %v", seed, i, sum, total[i])
			}
		}
	}
}

// TestSeriesOfRun shows one request for 50 ms at worker 0 and the queue behind it.
func TestSeriesOfRun(t *testing.T) {
	r := run(t, Config{Trace: traffic(call(0, 10, 2, 0), call(0, 10, 2, 0), call(80*ms, 10, 2, 0)), Workers: one(1)})
	at := func(line []float32, now time.Duration) float32 { return line[now/r.Series.Step] }
	for _, x := range []struct {
		now            time.Duration
		load, queueing float32
	}{{5 * ms, 1, 1}, {30 * ms, 1, 0}, {60 * ms, 0, 0}, {90 * ms, 1, 0}} {
		if l, q := at(r.Series.Load[0], x.now), at(r.Series.Queued, x.now); l != x.load || q != x.queueing {
			t.Errorf("at %v: %v at the worker and %v in the queue, want %v and %v", x.now, l, q, x.load, x.queueing)
		}
	}
}
