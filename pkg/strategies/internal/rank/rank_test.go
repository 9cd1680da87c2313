package rank

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

func TestBestLikeSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		cost := make([]int, rng.IntN(12))
		sorted := make([]int, len(cost))
		for w := range cost {
			cost[w], sorted[w] = rng.IntN(5), w
		}
		slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(cost[a], cost[b]) })
		got := Best(len(cost), func(a, b int) bool { return cost[a] < cost[b] })
		if len(got) != min(Places, len(cost)) {
			t.Fatalf("costs %v: %v", cost, got)
		}
		for i, p := range got {
			if p != (router.Placement{Worker: sorted[i]}) {
				t.Fatalf("costs %v: ranked %v, want %v", cost, got, sorted)
			}
		}
	}
}

func TestFirst(t *testing.T) {
	ranking := Best(4, func(a, b int) bool { return false }) // 0 1 2
	for _, test := range []struct {
		worker int
		want   []int
	}{{0, []int{0, 1, 2}}, {2, []int{2, 0, 1}}, {3, []int{3, 0, 1}}} {
		var got []int
		for _, p := range First(test.worker, ranking) {
			got = append(got, p.Worker)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%d first: %v, want %v", test.worker, got, test.want)
		}
	}
}
