package cacheroute

import (
	"slices"

	"gatewayd/pkg/router"
)

// Churn compares two tables over the same workers whose keys and members
// ascend. It returns the keys in both whose workers differ, ascending, and the
// cache churn: the mean of 1 - Jaccard(before, after) over the keys in both,
// 0 if there are none.
func Churn(before, after *router.Table) (moved []uint64, churn float64) {
	both, at := 0, 0
	for i, key := range after.Keys {
		for at < len(before.Keys) && before.Keys[at] < key {
			at++
		}
		if at == len(before.Keys) {
			break
		}
		if before.Keys[at] != key {
			continue
		}
		both++
		if was, is := before.Of(at), after.Of(i); !slices.Equal(was, is) {
			moved = append(moved, key)
			churn += 1 - jaccard(was, is)
		}
	}
	if both == 0 {
		return nil, 0
	}
	return moved, churn / float64(both)
}

// jaccard is the share of common members of two ascending lists.
func jaccard(a, b []uint16) float64 {
	common := 0
	for _, m := range a {
		if _, ok := slices.BinarySearch(b, m); ok {
			common++
		}
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

// carry expresses the table of a plan in terms of the present workers: those
// that are gone are left out, and so are keys that lived only there.
func carry(previous *router.Plan, workers []router.Worker) *router.Table {
	carried := &router.Table{}
	if previous == nil {
		return carried
	}
	number := make(map[string]uint16, len(workers))
	for i, w := range workers {
		number[w.ID] = uint16(i)
	}
	var homes []uint16
	for i, key := range previous.Table.Keys {
		homes = homes[:0]
		for _, m := range previous.Table.Of(i) {
			if w, ok := number[previous.Workers[m].ID]; ok {
				homes = append(homes, w)
			}
		}
		if len(homes) > 0 {
			slices.Sort(homes)
			carried.Append(key, slices.Compact(homes)...)
		}
	}
	return carried
}

// settled adds to a table the keys of rates that are not in it and whose last
// worker is known, as living there: a session that has begun somewhere is warm
// there, whoever chose the place.
func settled(t *router.Table, rates []router.KeyRate) *router.Table {
	out := &router.Table{}
	at := 0 // both lists ascend
	for _, r := range rates {
		for ; at < len(t.Keys) && t.Keys[at] < r.Key; at++ {
			out.Append(t.Keys[at], t.Of(at)...)
		}
		if r.Home > 0 && (at == len(t.Keys) || t.Keys[at] != r.Key) {
			out.Append(r.Key, uint16(r.Home-1))
		}
	}
	for ; at < len(t.Keys); at++ {
		out.Append(t.Keys[at], t.Of(at)...)
	}
	return out
}
