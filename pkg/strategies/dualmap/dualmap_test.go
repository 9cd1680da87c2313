package dualmap

import (
	"fmt"
	"slices"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata", Definition()) }

// TestLikeTwin sorts workers on both rings and applies the rule as it is read.
func TestLikeTwin(t *testing.T) {
	script.Twin(t, Definition(), router.Options{"ttft": "50ms", "rate": "10000"}, func(s script.Seen) []string {
		name := s.Request.Key
		if name == 0 {
			name = s.Seed
		}
		ring := func(name uint64) []int {
			order := make([]int, len(s.Workers))
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(a, b int) int {
				if router.Rendezvous(name, router.HashID(s.Workers[a].ID)) > router.Rendezvous(name, router.HashID(s.Workers[b].ID)) {
					return -1
				}
				return 1
			})
			return order
		}
		a := ring(name)[0]
		order := ring(router.Mix(name ^ second))
		if len(order) == 1 {
			return []string{s.Workers[a].ID}
		}
		b := order[0]
		if b == a {
			b = order[1]
		}
		slow := func(w int) float64 {
			return float64(s.Workers[w].Load.QueuedTokens+max(1, s.Request.PromptTokens-s.Cached[w])) / 10_000
		}
		best := a
		switch {
		case s.Cached[b] > s.Cached[a], s.Cached[b] == s.Cached[a] && slow(b) < slow(a):
			best = b
		}
		if other := a + b - best; slow(best) > 0.05 && slow(other) < slow(best) {
			best = other
		}
		return []string{s.Workers[best].ID}
	})
}

// TestPairsMoveLittle holds that a worker which leaves changes only pairs that it
// was in, and that both rings spread evenly and independently.
func TestPairsMoveLittle(t *testing.T) {
	const n, keys = 10, 20_000
	var ten []router.Worker
	for i := range n {
		ten = append(ten, router.Worker{ID: fmt.Sprintf("worker-%d", i)})
	}
	count := map[[2]string]int{}
	for key := range uint64(keys) {
		a, b := pair(ten, key)
		count[[2]string{ten[a].ID, ten[b].ID}]++
		c, d := pair(ten[:n-1], key)
		if a != n-1 && b != n-1 && (a != c || b != d) {
			t.Fatalf("key %d: %d and %d became %d and %d though another worker left", key, a, b, c, d)
		}
	}
	for p, k := range count {
		if want := keys / (n * (n - 1)); k < want/2 || k > want*3/2 {
			t.Errorf("%v: %d of %d keys, want about %d", p, k, keys, want)
		}
	}
}
