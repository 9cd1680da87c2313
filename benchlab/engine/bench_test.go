package engine

import (
	"testing"
	"time"
)

// BenchmarkRequests serves requests of 12,000 prompt tokens (750 blocks) and
// 340 output tokens on one engine of default limits, 32 in flight.
func BenchmarkRequests(b *testing.B) {
	for _, c := range []struct {
		name     string
		sessions uint64 // prompts that return; 0: none does
		until    time.Duration
	}{
		{"hit/run", 30, Forever},
		{"hit/step", 30, 0},
		{"miss/run", 0, Forever},
		{"miss/step", 0, 0},
	} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c.sessions, c.until) })
	}
}

func benchmark(b *testing.B, sessions uint64, until time.Duration) {
	const size, blocks, output, inFlight = 16, 750, 340, 32
	p, err := ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		b.Fatal(err)
	}
	e, err := New(p)
	if err != nil {
		b.Fatal(err)
	}
	prompts := make([][]uint64, 64)
	for i := range prompts {
		prompts[i] = make([]uint64, blocks)
	}
	next, now := uint64(0), time.Duration(0)
	submit := func() {
		prompt := prompts[next%64]
		for i := range prompt {
			prompt[i] = next<<20 + uint64(i)
			if sessions > 0 {
				prompt[i] = next%sessions<<20 + uint64(i)
			}
		}
		if err := e.Submit(now, Request{ID: next, PromptTokens: size*blocks + 5, OutputTokens: output, Blocks: prompt}); err != nil {
			b.Fatal(err)
		}
		next++
	}
	serve := func(requests int) {
		for done := 0; done < requests; {
			now, _ = e.Start(now, until)
			for _, v := range e.Finish(now) {
				if v.Kind == Finished {
					done++
					submit()
				}
			}
		}
	}
	for range inFlight {
		submit()
	}
	serve(2 * inFlight)
	b.ReportAllocs()
	b.ResetTimer()
	serve(b.N)
	b.StopTimer()
	stats := e.Stats(now)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(stats.HitTokens)/float64(stats.QueryTokens), "hit")
	b.ReportMetric(float64(stats.Preemptions)/float64(next), "preemptions/request")
}
