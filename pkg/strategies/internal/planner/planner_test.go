package planner

import (
	"math"
	"strings"
	"testing"

	"gatewayd/pkg/router"
)

func good() router.PlanInput {
	previous := &router.Plan{Workers: []router.WorkerRef{{ID: "a"}, {ID: "b"}}}
	previous.Table.Append(1, 0)
	previous.Table.Append(5, 0, 1)
	return router.PlanInput{
		TotalRate: 3, OutputTokens: 100, PromptTokens: 200,
		Fleet: router.Fleet{Workers: []router.Worker{
			{ID: "a", Incarnation: 4, Load: router.Load{Latency: router.Unknown}},
			{ID: "b", Energy: router.Energy{DecodeJoules: 0.1}, Load: router.Load{Latency: router.Gauge{Value: 2}}},
		}},
		Rates:    []router.KeyRate{{Key: 1, Rate: 1}, {Key: 2, Rate: 2, Tokens: 10}},
		Previous: previous,
	}
}

func TestPlanNamesWorkers(t *testing.T) {
	p := New(router.Info{Name: "x"}, func(router.PlanInput) (router.Plan, error) { return router.Plan{Note: "done"}, nil })
	if !p.Info().Plans {
		t.Error("the info does not say that it plans")
	}
	plan, err := p.Plan(good())
	if err != nil || plan.Note != "done" || len(plan.Workers) != 2 || plan.Workers[0] != (router.WorkerRef{ID: "a", Incarnation: 4}) {
		t.Errorf("plan %+v, error %v", plan, err)
	}
	none := good()
	none.Fleet.Workers = nil
	if plan, err := p.Plan(none); err != nil || plan.Note != "no workers" || plan.Rest.Order != router.Abstain {
		t.Errorf("without workers: plan %+v, error %v", plan, err)
	}
}

func TestPlanRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		want string
		harm func(in *router.PlanInput)
	}{
		{"worker 1 of the fleet has no id", func(in *router.PlanInput) { in.Fleet.Workers[1].ID = "" }},
		{`worker "a" comes after "a"`, func(in *router.PlanInput) { in.Fleet.Workers[1].ID = "a" }},
		{`worker "a" comes after "b"`, func(in *router.PlanInput) { w := in.Fleet.Workers; w[0], w[1] = w[1], w[0] }},
		{"fleet of 32769 workers", func(in *router.PlanInput) { in.Fleet.Workers = make([]router.Worker, router.MaxPlanWorkers+1) }},
		{`worker "a": concurrency -1`, func(in *router.PlanInput) { in.Fleet.Workers[0].Concurrency = -1 }},
		{`worker "a": concurrency 0 and kv cache of -5`, func(in *router.PlanInput) { in.Fleet.Workers[0].KVTokens = -5 }},
		{`worker "b": energy figure NaN`, func(in *router.PlanInput) { in.Fleet.Workers[1].Energy.PUE = nan }},
		{`worker "b": energy figure -1`, func(in *router.PlanInput) { in.Fleet.Workers[1].Energy.WakeWatts = -1 }},
		{`worker "b": observed figure NaN`, func(in *router.PlanInput) { in.Fleet.Workers[1].Load.Latency.Value = nan }},
		{`worker "b": observed figure +Inf`, func(in *router.PlanInput) { in.Fleet.Workers[1].Carbon.GramsPerKWh.Value = inf }},
		{"total rate NaN", func(in *router.PlanInput) { in.TotalRate = nan }},
		{"mean output -1", func(in *router.PlanInput) { in.OutputTokens = -1 }},
		{"key 2: rate NaN", func(in *router.PlanInput) { in.Rates[1].Rate = nan }},
		{"key 2: rate -2", func(in *router.PlanInput) { in.Rates[1].Rate = -2 }},
		{"key 1: +Inf prompt tokens", func(in *router.PlanInput) { in.Rates[0].Tokens = inf }},
		{"key 1 comes after key 1", func(in *router.PlanInput) { in.Rates[1].Key = 1 }},
		{"key 0 comes after key 1", func(in *router.PlanInput) { in.Rates[1].Key = 0 }},
		{"previous plan: table refers to worker 2 of 2", func(in *router.PlanInput) { in.Previous.Table.Members[2] = 2 }},
		{"previous plan: table: key 1 comes after key 1", func(in *router.PlanInput) { in.Previous.Table.Keys[1] = 1 }},
		{"previous plan: table: the offsets of key 5 descend", func(in *router.PlanInput) { in.Previous.Table.Offsets = []uint32{0, 4, 3} }},
		{"previous plan: table of 2 keys with 2 offsets", func(in *router.PlanInput) { in.Previous.Table.Offsets = []uint32{0, 3} }},
	}
	p := New(router.Info{}, func(router.PlanInput) (router.Plan, error) { return router.Plan{}, nil })
	for _, test := range tests {
		in := good()
		test.harm(&in)
		if _, err := p.Plan(in); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}

func TestLatencies(t *testing.T) {
	workers := []router.Worker{
		{Load: router.Load{Latency: router.Gauge{Value: 2}}},
		{Load: router.Load{Latency: router.Unknown}},
		{Load: router.Load{Latency: router.Gauge{Value: 4}}},
		{}, // a gauge that nobody filled in
	}
	seconds, observed := Latencies(workers)
	if observed != 2 || seconds[0] != 2 || seconds[1] != 3 || seconds[2] != 4 || seconds[3] != 3 {
		t.Errorf("latencies %v, %d observed", seconds, observed)
	}
	if seconds, observed := Latencies(workers[3:]); observed != 0 || seconds[0] != 0 {
		t.Errorf("latencies %v, %d observed where there is none", seconds, observed)
	}
}
