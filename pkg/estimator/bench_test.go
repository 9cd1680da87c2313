package estimator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// BenchmarkRecord records requests for keys that are tracked, in tables of 100,000
// and a million; "twin" is a map of rows that decay when they are touched, and
// "reference" what drawing a key and going to one random place in memory costs.
// "dropping" has ten times more keys than places.
func BenchmarkRecord(b *testing.B) {
	for _, keys := range []uint64{100_000, 1_000_000} {
		draws := make([]uint64, 1<<20)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range draws {
			draws[i] = scramble(rng.Uint64N(keys))
		}
		b.Run(fmt.Sprintf("rates/keys=%d", keys), func(b *testing.B) {
			r := NewRates(time.Minute, int(keys))
			for key := range keys {
				r.Record(0, scramble(key), 100)
			}
			for i, key := range draws {
				r.Record(int64(i)*1000, key, 100)
			}
			b.ReportAllocs()
			report := onCore(b)
			for i := len(draws); b.Loop(); i++ {
				r.Record(int64(i)*1000, draws[i&(1<<20-1)], 100)
			}
			report()
			b.ReportMetric(float64(bytesOf(r))/float64(keys), "B/key")
		})
		b.Run(fmt.Sprintf("twin/keys=%d", keys), func(b *testing.B) {
			r := twin{}
			for key := range keys {
				r.record(0, scramble(key), 100)
			}
			b.ReportAllocs()
			report := onCore(b)
			for i := 0; b.Loop(); i++ {
				r.record(int64(i)*1000, draws[i&(1<<20-1)], 100)
			}
			report()
		})
		b.Run(fmt.Sprintf("reference/keys=%d", keys), func(b *testing.B) {
			memory := make([]uint64, 4*keys)
			for i := 0; b.Loop(); i++ {
				memory[draws[i&(1<<20-1)]%uint64(len(memory))]++
			}
		})
		b.Run(fmt.Sprintf("dropping/keys=%d", keys), func(b *testing.B) {
			r := NewRates(time.Minute, int(keys))
			for key := range keys {
				r.Record(0, scramble(key), 100)
			}
			b.ReportAllocs()
			report := onCore(b)
			for i := 0; b.Loop(); i++ {
				r.Record(int64(i)*1000, scramble(rng.Uint64N(10*keys)), 100)
			}
			report()
			b.ReportMetric(float64(bytesOf(r))/float64(keys), "B/key")
		})
	}
}

// onCore returns a function that reports what an operation has taken since, in time
// of one core, which the rest of the machine disturbs less than time by the clock.
func onCore(b *testing.B) func() {
	b.Helper()
	spent := func() time.Duration {
		var use syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
			b.Fatal(err)
		}
		return time.Duration(use.Utime.Nano() + use.Stime.Nano())
	}
	runtime.GC()
	before := spent()
	return func() { b.ReportMetric(float64(spent()-before)/float64(b.N), "core-ns/op") }
}

// twin is the usual way to write it.
type twin map[uint64]*twinRow

type twinRow struct {
	count, tokens float64
	last          int64
}

func (t twin) record(now int64, key uint64, tokens int) {
	row := t[key]
	if row == nil {
		row = &twinRow{last: now}
		t[key] = row
	}
	d := math.Exp2(-float64(now-row.last) / float64(time.Minute))
	row.count, row.tokens, row.last = row.count*d+1, row.tokens*d+float64(tokens), now
}

func BenchmarkShares(b *testing.B) {
	s, err := NewShares(4000, 100_000)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		s.Record(rng.Uint64N(200_000))
	}
}

func BenchmarkSnapshot(b *testing.B) {
	r := NewRates(time.Minute, 1<<17)
	for key := range uint64(100_000) {
		r.Record(0, scramble(key), 100)
	}
	b.Run("freeze", func(b *testing.B) {
		for b.Loop() {
			r.Freeze()
		}
	})
	b.Run("at", func(b *testing.B) {
		f := r.Freeze()
		for b.Loop() {
			f.At(0, 0)
		}
	})
}
