package main

import (
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategytest"
)

// TestConformance holds the strategy to the rules that every strategy keeps.
func TestConformance(t *testing.T) { strategytest.Run(t, Definition(), strategytest.Options{}) }

func TestRoute(t *testing.T) {
	instance, err := open(nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	in := router.Input{
		Request: router.Request{PromptTokens: 1000},
		Workers: []router.Worker{
			{ID: "a", Load: router.Load{QueuedTokens: 600}}, // 600 wait, 400 to compute
			{ID: "b", Load: router.Load{QueuedTokens: 0}},   // 0 wait, 1000 to compute
			{ID: "c", Load: router.Load{QueuedTokens: 100}}, // 100 wait, 100 to compute
		},
		Cached: []int{600, 0, 900},
	}
	d := instance.(router.Strategy).Route(in)
	if got := in.Workers[d.Ranking[0].Worker].ID; got != "c" {
		t.Errorf("the request goes to %s, want c: %+v", got, d)
	}
}
