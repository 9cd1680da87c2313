package rendezvous

import (
	"fmt"
	"testing"

	"gatewayd/pkg/router"
)

func ids(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("worker-%02d", i)
	}
	return ids
}

func TestFirstSpreadsKeys(t *testing.T) {
	const keys, workers = 20_000, 10
	hashes, count := Hashes(ids(workers)), make([]int, workers)
	for key := range uint64(keys) { // consecutive keys are the hardest to spread
		count[First(key, hashes)]++
	}
	for w, n := range count {
		// The standard deviation is 42; 5 of them are a chance of 1 in a million.
		if n < keys/workers-210 || n > keys/workers+210 {
			t.Errorf("worker %d has %d of %d keys", w, n, keys)
		}
	}
}

func TestFirstMovesFewKeys(t *testing.T) {
	const keys = 10_000
	ten, eleven := Hashes(ids(10)), Hashes(ids(11))
	moved := 0
	for key := range uint64(keys) {
		before, after := First(key, ten), First(key, eleven)
		if before == after {
			continue
		}
		moved++
		if after != 10 {
			t.Fatalf("key %d moved from %d to %d, not to the new worker", key, before, after)
		}
	}
	if moved < keys*7/100 || moved > keys*12/100 {
		t.Errorf("%d of %d keys moved to an eleventh worker, want about 9 %%", moved, keys)
	}
}

func TestFirstHasTheHighestWeight(t *testing.T) {
	hashes := Hashes(ids(7))
	for key := range uint64(500) {
		first := First(key, hashes)
		for w, hash := range hashes {
			if router.Rendezvous(key, hash) > router.Rendezvous(key, hashes[first]) {
				t.Fatalf("key %d: worker %d outweighs the first, %d", key, w, first)
			}
		}
	}
	if got := First(1, nil); got != -1 {
		t.Errorf("First of no hashes = %d, want -1", got)
	}
}
