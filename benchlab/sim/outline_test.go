package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gatewayd/benchlab/trace"
)

// TestOutline compares what was seen before with a search through all earlier
// rows, and followers with Request.After.
func TestOutline(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		tr := shared(rng, 60)
		for i := 1; i < len(tr.Requests); i++ {
			for range rng.IntN(3) {
				tr.Requests[i].After = append(tr.Requests[i].After, rng.Int32N(int32(i)))
			}
		}
		o := NewOutline(tr)
		followers := make([][]int32, len(tr.Requests))
		for row := range tr.Requests {
			r := &tr.Requests[row]
			most, from := 0, int32(-1)
			for k := range tr.Requests[:row] {
				if n := common(tr, r, &tr.Requests[k]); n > 0 && n >= most {
					most, from = n, int32(k)
				}
			}
			if want := int32(min(most*32, r.Input)); o.seen[row] != want {
				t.Fatalf("seed %d, row %d: %d tokens seen before, want %d", seed, row, o.seen[row], want)
			}
			if got := o.from[row]; got >= int32(row) || got < 0 != (from < 0) || got >= 0 && common(tr, r, &tr.Requests[got]) != most {
				t.Errorf("seed %d, row %d: shares with row %d, want one like %d", seed, row, got, from)
			}
			for _, before := range r.After {
				followers[before] = append(followers[before], int32(row))
			}
		}
		for row, want := range followers {
			if got := o.followers(int32(row)); !slices.Equal(got, want) {
				t.Errorf("seed %d: row %d is followed by %v, want %v", seed, row, got, want)
			}
		}
	}
}

// common counts the leading blocks that two prompts share.
func common(t *trace.Trace, a, b *trace.Request) int {
	if t.Scope == trace.ScopeSession && a.Session != b.Session {
		return 0
	}
	n := 0
	for n < min(len(a.Blocks), len(b.Blocks)) && a.Blocks[n] == b.Blocks[n] {
		n++
	}
	return n
}

// TestRowOf compares the table with a map.
func TestRowOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	table, twin := newRowOf(0), map[uint64]int32{}
	for range 20000 {
		id, row := rng.Uint64N(4000), rng.Int32N(1000)
		if rng.IntN(2) == 0 {
			id = 0 - id<<40
		}
		got, ok := table.get(id)
		if want, has := twin[id]; ok != has || has && got != want {
			t.Fatalf("%d: got %d, %v, want %d, %v", id, got, ok, want, has)
		}
		table.put(id, row)
		twin[id] = row
	}
}
