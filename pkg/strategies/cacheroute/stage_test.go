package cacheroute

import (
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

func TestStage(t *testing.T) {
	var before, after router.Table
	rates := []router.KeyRate{{Key: 1, Rate: 8, Tokens: 100}, {Key: 2, Rate: 4, Tokens: 100}, {Key: 3, Rate: 2, Tokens: 100}, {Key: 4, Rate: 6}}
	before.Append(1, 0)
	before.Append(2, 0)
	before.Append(3, 0)
	before.Append(4, 0, 1)
	after.Append(1, 1)
	after.Append(2, 1)
	after.Append(3, 1)
	after.Append(4, 1)
	tests := []struct {
		name    string
		account account
		undone  int
		members []uint16
	}{
		{"pays", account{seconds: 60, request: 100, cached: 1, most: 100}, 0, []uint16{1, 1, 1, 1}},
		{"two at once", account{seconds: 60, request: 100, cached: 1, most: 12}, 1, []uint16{1, 1, 0, 1}},
		{"at least one", account{seconds: 60, request: 100, cached: 1, most: 1}, 2, []uint16{1, 0, 0, 1}},
		{"does not pay", account{seconds: 1, request: 10, cached: 1, most: 100}, 3, []uint16{0, 0, 0, 1}},
		{"pays since nothing is cached", account{seconds: 1, request: 10, cached: 0, most: 100}, 0, []uint16{1, 1, 1, 1}},
		{"pays by what is cached besides", account{seconds: 1, request: 10, cached: 1, gained: 290, most: 100}, 0, []uint16{1, 1, 1, 1}},
		{"nothing is known", account{cached: 1}, 3, []uint16{0, 0, 0, 1}},
	}
	for _, tt := range tests {
		placed := Placement{Table: router.Table{Keys: after.Keys, Offsets: after.Offsets, Members: slices.Clone(after.Members)}, Load: []float64{18, 20}}
		moves := Planned{Tokens: 50}.movesOf(&before, &placed.Table, rates)
		if len(moves) != 3 {
			t.Fatalf("moves %+v", moves)
		}
		placed.Load = []float64{12, 14} // the rest of the traffic is elsewhere
		if tt.account.seconds > 0 {
			placed.Load = []float64{14, 14}
		}
		stale := placed.without(moves)
		undone := tt.account.settle(&placed, &stale, moves)
		if undone != tt.undone || !slices.Equal(placed.Table.Members, tt.members) {
			t.Errorf("%s: %d undone, members %v; want %d, %v", tt.name, undone, placed.Table.Members, tt.undone, tt.members)
		}
	}
}
