package cacheroute

import (
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// TestMembership holds planned placements to what users of sessions expect: of
// 10,000 keys on 10 workers, one more worker moves at most 12 %, and one that
// leaves moves only its own.
func TestMembership(t *testing.T) {
	rates := make([]router.KeyRate, 10_000)
	for i := range rates {
		rates[i] = router.KeyRate{Key: uint64(i), Rate: 1 + float64(router.Mix(uint64(i))%100)/100}
	}
	place := func(ids []string, previous *router.Table) Placement {
		p, err := Planned{IDs: ids, QCap: 1e6, Near: DefaultNear, Bound: DefaultBound}.Place(rates, previous)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Table.Keys) != len(rates) {
			t.Fatalf("%d of %d keys have a home", len(p.Table.Keys), len(rates))
		}
		return p
	}
	ids := names(11)
	ten := place(ids[:10], nil)
	eleven := place(ids, &ten.Table)
	moved, _ := Churn(&ten.Table, &eleven.Table)
	if share := float64(len(moved)) / float64(len(rates)); share > 0.12 || share < 0.03 {
		t.Errorf("a joining worker moved %.1f %% of the keys, want 3 to 12", 100*share)
	}
	if got := eleven.Imbalance(); got > DefaultBound {
		t.Errorf("imbalance %.3f after a join, want at most %v", got, DefaultBound)
	}
	if low := slices.Min(eleven.Load) * 11 / (eleven.Admitted + eleven.Unadmitted); low < 0.7 {
		t.Errorf("the joining worker has %.2f of the mean load", low)
	}

	const gone = 3
	before := router.Plan{Table: ten.Table}
	for _, id := range ids[:10] {
		before.Workers = append(before.Workers, router.WorkerRef{ID: id, Incarnation: 1})
	}
	var left []router.Worker
	var leftIDs []string
	for i, id := range ids[:10] {
		if i != gone {
			left, leftIDs = append(left, router.Worker{ID: id, Incarnation: 2}), append(leftIDs, id)
		}
	}
	nine := place(leftIDs, carry(&before, left))
	for i, key := range ten.Table.Keys {
		was, is := ten.Table.Of(i)[0], Homes(&nine.Table, key)[0]
		if was != gone && ids[was] != leftIDs[is] {
			t.Fatalf("key %d moved from %s to %s though %s left", key, ids[was], leftIDs[is], ids[gone])
		}
	}
	if got := nine.Imbalance(); got > DefaultBound {
		t.Errorf("imbalance %.3f after a leave, want at most %v", got, DefaultBound)
	}
}
