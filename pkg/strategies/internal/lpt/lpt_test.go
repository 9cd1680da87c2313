package lpt

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// naive does what Heap does by looking at every worker each time.
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
