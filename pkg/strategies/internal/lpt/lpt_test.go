package lpt

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive does what Tree does by looking at every worker each time.
type naive []float64

func (n naive) place(k int, share float64) []uint16 {
	var picked []uint16
	for range min(k, len(n)) {
		best := -1
		for w := range n {
			if !slices.Contains(picked, uint16(w)) && (best < 0 || n[w] < n[best]) {
				best = w
			}
		}
		picked = append(picked, uint16(best))
	}
	for _, w := range picked {
		n[w] += share
	}
	slices.Sort(picked)
	return picked
}

func TestPlaceLikeNaiveTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		load := make([]float64, 1+rng.IntN(20))
		for w := range load {
			load[w] = float64(rng.IntN(4))
		}
		h, twin := New(load), naive(slices.Clone(load))
		for job := range 40 {
			k, share := 1+rng.IntN(len(load)+2), float64(rng.IntN(5))/2
			got, want := h.Place(nil, k, share), twin.place(k, share)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d job %d: %d shares of %v on %v, want %v", round, job, k, share, got, want)
			}
		}
		if got := h.Loads(); !slices.Equal(got, twin) {
			t.Fatalf("round %d: loads %v, want %v", round, got, twin)
		}
	}
}

func TestPlaceNothing(t *testing.T) {
	if got := New(nil).Place(nil, 3, 1); len(got) != 0 {
		t.Errorf("placed on %v with no worker", got)
	}
	if got := New([]float64{1}).Place([]uint16{7}, 0, 1); !slices.Equal(got, []uint16{7}) {
		t.Errorf("no share was asked for, got %v", got)
	}
}

func TestPlaceOneDoesNotAllocate(t *testing.T) {
	h, dst := New(make([]float64, 64)), make([]uint16, 0, 8)
	if n := testing.AllocsPerRun(100, func() { h.Place(dst, 1, 1) }); n != 0 {
		t.Errorf("%v allocations per placement, want none", n)
	}
}

// BenchmarkPlace places one share; "heap" does the same with container/heap.
func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{30, 1024} {
		b.Run(fmt.Sprintf("tree/workers=%d", n), func(b *testing.B) {
			t, dst, share := New(make([]float64, n)), make([]uint16, 0, 1), 1e9
			for b.Loop() {
				share *= 0.99999
				t.Place(dst, 1, share)
			}
		})
		b.Run(fmt.Sprintf("heap/workers=%d", n), func(b *testing.B) {
			h, share := make(plain, n), 1e9
			for w := range h {
				h[w].worker = w
			}
			for b.Loop() {
				share *= 0.99999
				h[0].load += share
				heap.Fix(&h, 0)
			}
		})
	}
}

type plain []struct {
	load   float64
	worker int
}

func (p plain) Len() int { return len(p) }
func (p plain) Less(i, j int) bool {
	return p[i].load < p[j].load || p[i].load == p[j].load && p[i].worker < p[j].worker
}
func (p plain) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p plain) Push(any)      {}
func (p plain) Pop() any      { return nil }
