package sim

import (
	"runtime"
	"testing"
	"unsafe"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
)

// TestPeakMemory holds that four times the real traffic need no more memory at any
// time but 64 bytes for the result of each request. The trace and its outline are
// not counted. There are no sessions: what a core remembers of keys has a bound of
// its own, which this traffic would not reach.
func TestPeakMemory(t *testing.T) {
	if size := unsafe.Sizeof(measure.Request{}); size > 64 {
		t.Errorf("a result takes %d bytes, want at most 64", size)
	}
	if testing.Short() {
		t.Skip("-short leaves it out: it simulates thousands of requests and collects garbage often")
	}
	const few, many, slack = 1500, 6000, 128 << 10
	all, err := trace.Default()
	if err != nil {
		t.Fatal(err)
	}
	if all, err = all.Spread(1).Scale(3); err != nil {
		t.Fatal(err)
	}
	p, err := engine.ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	peak := func(rows int) int {
		tr := all.Cut(rows)
		c := Config{Trace: tr, Outline: NewOutline(tr), Workers: Fleet(8, p), Chain: chain(t, "least-busy"), Seed: 1}
		var before, now runtime.MemStats
		most, ticks := uint64(0), 0
		c.Options.Progress = func(int) {
			if ticks++; ticks%20 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&before)
		run(t, c)
		return int(most) - int(before.HeapAlloc)
	}
	small, large := peak(few), peak(many)
	t.Logf("at most %d bytes with %d requests, %d with %d", small, few, large, many)
	if grown := large - small; grown > 64*(many-few)+slack {
		t.Errorf("%d bytes more for %d requests more, want 64 each at most", grown, many-few)
	}
}
