package rendezvous

import (
	"fmt"
	"testing"

	"gatewayd/pkg/router"
)

// TestRingLikeTwin looks at every worker from every point.
func TestRingLikeTwin(t *testing.T) {
	for _, n := range []int{Few + 1, 100, 1000} {
		o := New(ids(n))
		if o.ring == nil {
			t.Fatalf("%d workers have no ring", n)
		}
		for key := range uint64(2000) {
			at := router.Mix(key)
			step := router.Mix(at) | 1
			type look struct {
				distance uint64
				worker   int
			}
			best, odd := look{^uint64(0), -1}, look{^uint64(0), -1}
			for range probes {
				near := look{^uint64(0), -1}
				for w, hash := range o.hashes {
					if d := hash - at; d < near.distance {
						near = look{d, w}
					}
				}
				if near.distance < best.distance {
					best = near
				}
				if near.worker%2 == 1 && near.distance < odd.distance {
					odd = near
				}
				at += step
			}
			if got := o.First(key); got != best.worker {
				t.Fatalf("%d workers, key %d: first %d, want %d", n, key, got, best.worker)
			}
			if got := o.FirstOf(key, func(w int) bool { return w%2 == 1 }); got != odd.worker {
				t.Fatalf("%d workers, key %d: first odd one %d, want %d", n, key, got, odd.worker)
			}
		}
	}
}

// TestFewAreTheCores holds that small fleets have the order of the core.
func TestFewAreTheCores(t *testing.T) {
	o := New(ids(Few))
	for key := range uint64(500) {
		first, odd := -1, -1
		for w, hash := range o.hashes {
			if first < 0 || router.Rendezvous(key, hash) > router.Rendezvous(key, o.hashes[first]) {
				first = w
			}
			if w%2 == 1 && (odd < 0 || router.Rendezvous(key, hash) > router.Rendezvous(key, o.hashes[odd])) {
				odd = w
			}
		}
		if got := o.First(key); got != first {
			t.Fatalf("key %d: first %d, want %d", key, got, first)
		}
		if got := o.FirstOf(key, func(w int) bool { return w%2 == 1 }); got != odd {
			t.Fatalf("key %d: first odd one %d, want %d", key, got, odd)
		}
	}
	if got := New(nil).First(1); got != -1 {
		t.Errorf("first of nobody: %d", got)
	}
}

// TestRingSpreadsKeys measures how even the ring is.
func TestRingSpreadsKeys(t *testing.T) {
	for _, n := range []int{Few + 1, 150} {
		const each = 3000
		count := make([]int, n)
		o := New(ids(n))
		for key := range uint64(each * n) {
			count[o.First(key)]++
		}
		most := 0
		for _, c := range count {
			most = max(most, c)
		}
		t.Logf("%d workers: the fullest has %.3f of the mean", n, float64(most)/each)
		if float64(most) > 1.2*each { // of which 0.05 is chance
			t.Errorf("%d workers: the fullest has %d keys, the mean is %d", n, most, each)
		}
	}
}

// TestRingMovesFewKeys holds that a worker takes only keys that become its own,
// and those in the number of its part.
func TestRingMovesFewKeys(t *testing.T) {
	const n, keys = 200, 40_000
	before, after := New(ids(n)), New(ids(n+1))
	moved := 0
	for key := range uint64(keys) {
		was, is := before.First(key), after.First(key)
		if was == is {
			continue
		}
		if moved++; is != n {
			t.Fatalf("key %d moved from %d to %d, not to the new worker", key, was, is)
		}
	}
	if want := keys / (n + 1); moved < want*3/4 || moved > want*5/4 {
		t.Errorf("%d of %d keys moved, want about %d", moved, keys, want)
	}
}

func BenchmarkFirst(b *testing.B) {
	for _, n := range []int{30, Few, 1024} {
		o, hashes := New(ids(n)), Hashes(ids(n))
		b.Run(fmt.Sprintf("order/workers=%d", n), func(b *testing.B) {
			for key := uint64(0); b.Loop(); key++ {
				o.First(key)
			}
		})
		b.Run(fmt.Sprintf("scan/workers=%d", n), func(b *testing.B) {
			for key := uint64(0); b.Loop(); key++ {
				First(key, hashes)
			}
		})
	}
}
