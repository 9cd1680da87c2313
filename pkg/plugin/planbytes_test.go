package plugin

import (
	"reflect"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

func TestPlanBytes(t *testing.T) {
	p := router.Plan{
		Version: 7, Workers: []router.WorkerRef{{ID: "a", Incarnation: 1}, {ID: "b"}},
		Guard: router.Guard{Of: router.InFlight, Factor: 1.25, Slack: 16},
		Rest:  router.Rest{Order: router.ByCost, Cost: router.Row{{Feature: router.InFlight, Weights: []float64{1, 2}}}},
		Bind:  router.Bind{TTL: time.Minute, Keep: true}, Expected: []float64{1, 2}, Note: "a note",
	}
	for key := range uint64(200_000) {
		p.Table.Append(router.Mix(key), uint16(key%2))
	}
	b, err := MarshalPlan(&p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := UnmarshalPlan(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, p) {
		t.Error("the plan changed on its way")
	}
	for _, cut := range []int{0, 1, 10, len(b) / 2, len(b) - 1} {
		if _, err := UnmarshalPlan(b[:cut]); err == nil {
			t.Errorf("%d of %d bytes make a plan", cut, len(b))
		}
	}
}

func FuzzUnmarshalPlan(f *testing.F) {
	b, err := MarshalPlan(&router.Plan{Workers: []router.WorkerRef{{ID: "a"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := UnmarshalPlan(b); err == nil && p.Validate() != nil {
			t.Error("an invalid plan was unpacked")
		}
	})
}
