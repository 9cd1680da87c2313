package router

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestPlansThatCannotBeExecuted are refused, each with its reason.
func TestPlansThatCannotBeExecuted(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	_, many := benchFleet(MaxPlanWorkers + 1)
	two := []WorkerRef{{ID: "a"}, {ID: "b"}}
	for _, c := range []struct {
		want string
		plan Plan
	}{
		{"32769 workers", Plan{Workers: many}},
		{`worker 0: ID ""`, Plan{Workers: []WorkerRef{{}}}},
		{"repeated", Plan{Workers: []WorkerRef{{ID: "a"}, {ID: "a", Incarnation: 1}}}},
		{"offsets", Plan{Workers: two, Table: Table{Keys: []uint64{1}}}},
		{"offsets", Plan{Workers: two, Table: Table{Keys: []uint64{1}, Offsets: []uint32{1, 1}, Members: []uint16{0}}}},
		{"offsets", Plan{Workers: two, Table: Table{Keys: []uint64{1}, Offsets: []uint32{0, 2}, Members: []uint16{0}}}},
		{"offsets", Plan{Workers: two, Table: Table{Members: []uint16{0}}}},
		{"no workers", Plan{Workers: two, Table: Table{Keys: []uint64{1, 2}, Offsets: []uint32{0, 1, 1}, Members: []uint16{0}}}},
		{"ascend", Plan{Workers: two, Table: Table{Keys: []uint64{1, 2}, Offsets: []uint32{0, 9, 1}, Members: []uint16{0}}}},
		{"worker 2 of 2", Plan{Workers: two, Table: Table{Keys: []uint64{1}, Offsets: []uint32{0, 1}, Members: []uint16{2}}}},
		{"guard is of kv_used", Plan{Guard: Guard{Of: KVUsed, Factor: 2}}},
		{"factor 0.5", Plan{Guard: Guard{Of: InFlight, Factor: 0.5}}},
		{"factor NaN", Plan{Guard: Guard{Of: InFlight, Factor: nan}}},
		{"slack +Inf", Plan{Guard: Guard{Of: InFlight, Factor: 2, Slack: inf}}},
		{"order 4", Plan{Rest: Rest{Order: ByRotation + 1}}},
		{"samples -1", Plan{Rest: Rest{Sample: -1}}},
		{"unknown or repeated", Plan{Workers: two, Rest: Rest{Among: []uint16{2}}}},
		{"unknown or repeated", Plan{Workers: two, Rest: Rest{Among: []uint16{0, 0}}}},
		{"bound that is not", Plan{Rest: Rest{Bound: nan}}},
		{"unknown feature 12", Plan{Rest: Rest{Cost: Row{{numFeatures, []float64{1}}}}}},
		{"has 3 weights; it needs 1 or 2", Plan{Workers: two, Rest: Rest{Limit: Row{{One, make([]float64, 3)}}}}},
		{"not finite", Plan{Workers: two, Rest: Rest{Cost: Row{{One, []float64{1, inf}}}}}},
		{"TTL -1ns", Plan{Bind: Bind{TTL: -1}}},
		{"share NaN", Plan{Bind: Bind{MinCached: nan}}},
		{"after -1ns", Plan{Next: -1}},
		{"expected load of 1 workers, but names 2", Plan{Workers: two, Expected: []float64{1}}},
		{"worker 1: expected load NaN", Plan{Workers: two, Expected: []float64{1, nan}}},
		{"worker 0: expected load -1", Plan{Workers: two, Expected: []float64{-1, 1}}},
		{"speed of 3 workers, but names 2", Plan{Workers: two, Speeds: make([]float64, 3)}},
		{"worker 1: speed +Inf", Plan{Workers: two, Speeds: []float64{1, inf}}},
	} {
		if _, err := Compile(&c.plan); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one that says %q", err, c.want)
		}
	}
}

// TestCompiledTable holds that every key is found and no other, also when many
// keys fall on one place.
func TestCompiledTable(t *testing.T) {
	p := &Plan{Workers: []WorkerRef{{ID: "a"}, {ID: "b"}}}
	for key := range uint64(5000) {
		p.Table.Append(key*key, uint16(key%2))
	}
	c, err := Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	if c.Plan() != p {
		t.Error("the plan is another one")
	}
	for key := range uint64(5000) {
		if got := fmt.Sprint(c.members(key * key)); got != fmt.Sprintf("[%d]", key%2) {
			t.Fatalf("key %d: members %s", key*key, got)
		}
		if got := c.members(key*key + 5001); got != nil && (key*key+5001) > 0 && !isSquare(key*key+5001) {
			t.Fatalf("key %d: members %v", key*key+5001, got)
		}
	}
	if empty, err := Compile(&Plan{}); err != nil || empty.members(0) != nil {
		t.Errorf("an empty plan has members, or is refused: %v", err)
	}
}

func isSquare(n uint64) bool {
	r := uint64(math.Sqrt(float64(n)))
	return r*r == n || (r+1)*(r+1) == n
}
