package trace

import (
	"cmp"
	"fmt"
	"slices"
)

// chain holds ids to what they promise: an id that stands under two predecessors
// names a block and not a prefix. Then all ids are replaced by chained ones.
func (t *Trace) chain() {
	if n := t.unchained(); n > 0 {
		rewrite(t.Requests, func(r *Request) func(k int, id uint64) uint64 {
			before := uint64(0)
			return func(_ int, id uint64) uint64 {
				before = mix(before^mix(id, 2), 3)
				return before
			}
		})
		t.Notes = append(t.Notes, fmt.Sprintf("%d ids stood under two predecessors, so they name blocks, not prefixes: all ids were chained", n))
	}
}

func (t *Trace) unchained() (n int) {
	before := map[uint64]uint64{} // block -> its predecessor when first met
	for _, a := range arrays(t.Requests) {
		r := &t.Requests[a]
		salt, previous := t.Scope.salt(r.Session), uint64(0)
		for _, id := range r.Blocks {
			id = mix(id^salt, 0)
			if was, seen := before[id]; !seen {
				before[id] = previous
			} else if was != previous {
				n++
			}
			previous = id
		}
	}
	return n
}

// arrays lists rows that together have all block ids: of those whose ids share
// one array, the row with most of them.
func arrays(rows []Request) (list []int32) {
	longest := map[*uint64]int32{}
	for i := range rows {
		b := rows[i].Blocks
		if len(b) == 0 {
			continue
		}
		if k, ok := longest[&b[0]]; !ok || len(b) > len(rows[k].Blocks) {
			longest[&b[0]] = int32(i)
		}
	}
	for _, i := range longest {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}

// rewrite gives rows new ids: what by gives for a row is called for its ids in
// turn. Rows whose ids share one array share the new one, so by must treat them
// alike.
func rewrite(rows []Request, by func(r *Request) func(k int, id uint64) uint64) {
	made := map[*uint64][]uint64{}
	for _, a := range arrays(rows) {
		f, old := by(&rows[a]), rows[a].Blocks
		ids := make([]uint64, len(old))
		for k, id := range old {
			ids[k] = f(k, id)
		}
		made[&old[0]] = ids
	}
	for i := range rows {
		if b := rows[i].Blocks; len(b) > 0 {
			rows[i].Blocks = made[&b[0]][:len(b):len(b)]
		}
	}
}

// overlap lets rows whose ids are a prefix of another row's ids use that row's
// array. Turns repeat their session's prefix, so this saves most of the memory.
// It looks only at rows near each other: rows is one session.
func overlap(rows []Request) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(rows[b].Blocks), len(rows[a].Blocks)) })
	byEnd := map[uint64][]uint64{} // last id of a prefix -> an array that has it
	for _, i := range order {
		b := rows[i].Blocks
		if len(b) == 0 {
			continue
		}
		end := b[len(b)-1]
		if whole, ok := byEnd[end]; ok && len(whole) >= len(b) && slices.Equal(whole[:len(b)], b) {
			rows[i].Blocks = whole[:len(b):len(b)]
			continue
		}
		rows[i].Blocks = slices.Clip(b)
		for _, id := range b {
			byEnd[id] = b
		}
	}
}
