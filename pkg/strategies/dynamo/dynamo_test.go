package dynamo

import (
	"fmt"
	"math"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata", Definition()) }

// TestLikeTwin compares with the cost in blocks, worker by worker.
func TestLikeTwin(t *testing.T) {
	for _, o := range []router.Options{nil, {"overlap": "0.5", "prefill": "2", "requests": "3", "block": "10"}} {
		overlap, prefill, requests, block := 1.0, 1.0, 0.0, 16.0
		if o != nil {
			overlap, prefill, requests, block = 0.5, 2, 3, 10
		}
		script.Twin(t, Definition(), o, func(s script.Seen) []string {
			prompt, output := s.Planned.PromptTokens, s.Planned.OutputTokens
			if prompt == 0 {
				prompt = 512
			}
			if output == 0 {
				output = 256
			}
			return script.Least(s.Workers, func(i int) float64 {
				l := s.Workers[i].Load
				cached := float64(min(s.Cached[i], s.Request.PromptTokens-1)) // the last token is computed
				compute := (float64(l.QueuedTokens) + float64(s.Request.PromptTokens) - overlap*cached) / block
				decode := float64(l.InFlight) * (prompt + output/2) / block
				return math.Round(1e6 * (prefill*math.Max(compute, 0) + decode + requests*float64(l.InFlight)))
			})
		})
	}
}

// TestSoftmax holds that cheaper workers are likelier by the published formula.
func TestSoftmax(t *testing.T) {
	in := router.Input{Request: router.Request{PromptTokens: 320}, Workers: []router.Worker{{ID: "a"}, {ID: "b"}, {ID: "c"}}, Cached: []int{320, 160, 0}}
	for _, temperature := range []float64{0.2, 1, 100} {
		instance, err := Definition().New(router.Options{"temperature": fmt.Sprint(temperature)}, 1)
		if err != nil {
			t.Fatal(err)
		}
		const draws = 20_000
		count := map[int]float64{}
		for seed := range uint64(draws) {
			in.Seed = seed
			count[instance.(router.Strategy).Route(in).Ranking[0].Worker]++
		}
		// Costs are 1/16, 10 and 20 blocks.
		half, whole := math.Exp(-(10-1.0/16)/(20-1.0/16)/temperature), math.Exp(-1/temperature)
		total := 1 + half + whole
		for w, want := range []float64{1 / total, half / total, whole / total} {
			if got := count[w] / draws; math.Abs(got-want) > 0.02 {
				t.Errorf("temperature %v: worker %d got %.3f of the draws, want %.3f", temperature, w, got, want)
			}
		}
	}
}

// TestSoftmaxCosts holds that the form which draws costs what the plan's row does, with
// the means that it learns.
func TestSoftmaxCosts(t *testing.T) {
	c := config{overlap: 0.5, prefill: 2, requests: 3, block: 10, temperature: 1}
	s := newSoftmax(router.Info{}, c)
	in := router.Input{Request: router.Request{PromptTokens: 100}, Cached: []int{40, 0}, Workers: []router.Worker{
		{Load: router.Load{InFlight: 2, QueuedTokens: 70}}, {},
	}}
	check := func(prompt, output float64) {
		t.Helper()
		plan, err := c.plan(router.PlanInput{PromptTokens: prompt, OutputTokens: output})
		if err != nil {
			t.Fatal(err)
		}
		of := map[router.Feature]float64{}
		for _, term := range plan.Rest.Cost {
			of[term.Feature] = term.Weights[0]
		}
		want := []float64{60*of[router.Uncached] + 70*of[router.QueuedTokens] + 2*of[router.InFlight], 100 * of[router.Uncached]}
		if got := s.costs(in); math.Abs(got[0]-want[0]) > 1e-9 || math.Abs(got[1]-want[1]) > 1e-9 {
			t.Errorf("costs %v, the plan's are %v", got, want)
		}
	}
	check(0, 0)
	s.Observe([]router.Event{{Kind: router.Finished, At: 1, Usage: router.Usage{OutputTokens: 30}}})
	check(0, 30)
	s.Route(in)
	check(100, 30)
}
