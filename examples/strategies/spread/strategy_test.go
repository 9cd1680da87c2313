package main

import (
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategytest"
)

// TestConformance holds the strategy to the rules that every strategy keeps.
func TestConformance(t *testing.T) { strategytest.Run(t, Definition(), strategytest.Options{}) }

func TestPlan(t *testing.T) {
	instance, err := open(router.Options{"rate": "3"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := instance.(router.Planner).Plan(router.PlanInput{
		Fleet: router.Fleet{Workers: []router.Worker{{ID: "a"}, {ID: "b"}, {ID: "c"}}},
		Rates: []router.KeyRate{{Key: 1, Rate: 3}, {Key: 2, Rate: 3.1}, {Key: 3, Rate: 50}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Table.Keys) != 2 || len(p.Table.Of(0)) != 2 || len(p.Table.Of(1)) != 3 {
		t.Errorf("keys 2 and 3 need two and all three workers: %+v", p.Table)
	}
}
