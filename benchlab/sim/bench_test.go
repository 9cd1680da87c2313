package sim

import (
	"context"
	"testing"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/trace"
)

// BenchmarkRun simulates the beginning of the default trace on 16 workers; there
// are 777 blocks of 16 tokens to a request.
func BenchmarkRun(b *testing.B) {
	const rows, workers, scale = 2000, 16, 7.5
	t, err := trace.Default()
	if err != nil {
		b.Fatal(err)
	}
	if t, err = t.Spread(1).Cut(rows).InferSessions(0).Scale(scale); err != nil {
		b.Fatal(err)
	}
	p, err := engine.ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		b.Fatal(err)
	}
	for _, names := range [][]string{{"round-robin"}, {"sticky"}, {"cacheroute", "sticky", "joule"}} {
		b.Run(names[len(names)-1], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := Run(context.Background(), Config{Trace: t, Workers: Fleet(workers, p), Chain: chain(b, names...), Seed: 1})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*rows)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
