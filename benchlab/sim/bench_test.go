//go:build unix

package sim

import (
	"context"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
)

// rounds are at least so many samples of each figure; the median is reported.
const rounds = 5

// BenchmarkRun simulates the default trace, of 777 blocks of 16 tokens to a
// request, on 16 workers with strategies in process, at the load that these
// workers just bear. It reports
//
//	requests/s       simulated requests for each second of one core's time, garbage
//	                 collection included: the median of the rounds
//	reference-ns     for comparison between machines and hours, a step of a loop of
//	                 dependent arithmetic and table look-ups, measured before each round
//	result-B/request memory that a request's result takes
//
// Run it with
//
//	go test ./benchlab/sim -run '^$' -bench Run
func BenchmarkRun(b *testing.B) {
	const workers, scale = 16, 7.5
	t, err := trace.Default()
	if err != nil {
		b.Fatal(err)
	}
	if t, err = t.Spread(1).InferSessions(0).Scale(scale); err != nil {
		b.Fatal(err)
	}
	outline := NewOutline(t)
	p, err := engine.ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		b.Fatal(err)
	}
	for _, names := range [][]string{{"round-robin"}, {"chwbl"}, {"sticky"}, {"cacheroute", "sticky", "joule"}} {
		b.Run(names[len(names)-1], func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			b.ReportAllocs()
			var rates, references []float64
			round := func() {
				references = append(references, reference(b))
				before := coreTime(b)
				c := Config{Trace: t, Outline: outline, Workers: Fleet(workers, p), Chain: chain(b, names...), Seed: 1}
				if _, err := Run(context.Background(), c); err != nil {
					b.Fatal(err)
				}
				rates = append(rates, float64(len(t.Requests))/(coreTime(b)-before).Seconds())
			}
			for b.Loop() {
				round()
			}
			for len(rates) < rounds {
				round()
			}
			b.ReportMetric(median(rates), "requests/s")
			b.ReportMetric(median(references), "reference-ns")
			b.ReportMetric(float64(unsafe.Sizeof(measure.Request{})), "result-B/request")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// reference returns the nanoseconds of a core that a step of the reference loop
// takes.
func reference(b *testing.B) float64 {
	const steps = 2_000_000
	var table [1 << 12]uint64
	before := coreTime(b)
	x := uint64(1)
	for i := range uint64(steps) {
		at := &table[(x^i)%uint64(len(table))]
		x = (x ^ *at ^ x>>29) * 0xbf58476d1ce4e5b9
		*at += x
	}
	if x == 0 {
		b.Fatal("the loop was left out")
	}
	return float64((coreTime(b) - before).Nanoseconds()) / steps
}

// coreTime is the time that the process has spent on cores.
func coreTime(tb testing.TB) time.Duration {
	tb.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func median(samples []float64) float64 {
	slices.Sort(samples)
	return samples[len(samples)/2]
}
