package paper

import (
	"math"
	"testing"
)

// cell is a figure of ours.
func cell(t *testing.T, table *Table, row string, column int) float64 {
	t.Helper()
	r := table.row(row)
	if r == nil {
		t.Fatalf("table %s has no row %q", table.Number, row)
	}
	return r.Cells[column].Ours.Mean.Or(math.NaN())
}

func short(seeds, requests int) *study {
	return &study{Options: Options{Seed: 1, Seeds: seeds, Requests: requests, Quick: true, Parallel: 2}, populations: populations()[:seeds]}
}

// TestHeadline has CacheRoute first in Table 1 at both thresholds, with a ratio to
// each of the others.
func TestHeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: six policies climb a ladder on three seeds")
	}
	table, err := short(3, 2000).headline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range six()[:5] {
		for k := 1; k <= 2; k++ {
			if ours, other := cell(t, table, cacheroute.name, k), cell(t, table, p.name, k); !(ours > other) {
				t.Errorf("%s: %v of CacheRoute, %v of %s", table.Columns[k].Name, ours, other, p.name)
			}
		}
	}
	if len(table.Ratios) != 10 {
		t.Errorf("%d ratios, want those to five policies at two thresholds", len(table.Ratios))
	}
	for _, r := range table.Ratios {
		if ours := r.Ours.Or(0); !(ours > 1 && r.Least.Or(0) < ours && r.Most.Or(math.Inf(1)) > ours && r.Published > 1) {
			t.Errorf("%s: %+v, want it above 1, within the steps of the ladder, and a published one", r.Name, r)
		}
	}
}

// TestActiveSets has the trends of Table 3: scattered keys suffer from their number,
// hashed ones from its smallness, and CacheRoute bears as much as either while
// keys come often enough to be warm.
func TestActiveSets(t *testing.T) {
	table, err := short(1, 1000).activeSets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := func(p policy) (all []float64) {
		for k := range table.Columns {
			all = append(all, cell(t, table, p.name, k))
		}
		return all
	}
	scattered, hashed, ours := of(flat), of(sticky), of(cacheroute)
	if !(scattered[0] > scattered[1] && scattered[1] >= scattered[2]) {
		t.Errorf("Flat-LB bears %v, want less of more keys", scattered)
	}
	if !(hashed[0] < hashed[1]) {
		t.Errorf("Sticky bears %v, want more of 128 keys than of 16", hashed)
	}
	for k := range ours {
		if ours[k] < scattered[k] || k < len(ours)-1 && ours[k] < hashed[k] {
			t.Errorf("%s: CacheRoute bears %v, Flat-LB %v, Sticky %v", table.Columns[k].Name, ours[k], scattered[k], hashed[k])
		}
	}
}

// TestFleets has the trend of Table 14: what CacheRoute gains is least in the
// largest fleet, where loads are as before.
func TestFleets(t *testing.T) {
	table, err := short(1, 1000).fleets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	small, published, large := cell(t, table, "R=8, 2 whales", 4), cell(t, table, "R=30, 8 whales", 4), cell(t, table, "R=60, 16 whales", 4)
	if !(small > large && published > large && large >= 1) {
		t.Errorf("ratios of capacities are %v, %v and %v with 8, 30 and 60 workers", small, published, large)
	}
	for _, r := range table.Rows {
		if flat, ours := r.Cells[0].Ours.Mean.Or(math.NaN()), r.Cells[1].Ours.Mean.Or(math.NaN()); !(ours > flat) {
			t.Errorf("%s: KV hit %v of CacheRoute, %v of Flat-LB", r.Name, ours, flat)
		}
	}
}
