package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// Seen is what a strategy's slow twin knows when a request comes in.
type Seen struct {
	router.Input                 // as a strategy that asks for everything gets it
	Up           []router.Member // all workers of the pool that are up, ordered by ID
	// Planned is what the plan in force was made of, for strategies that plan.
	Planned router.PlanInput
	// Output is what the output feature of the request is.
	Output float64
}

// meanOutput is the length of all outputs in a twin's world.
const meanOutput = 80

// Rule is the slow twin of a strategy: it returns the IDs of the workers that may
// serve the request by the strategy's rule in its most literal form, several
// where the rule leaves it open.
type Rule func(Seen) []string

// spy precedes the strategy in the chain and passes on every request.
type spy struct{ last router.Input }

func (s *spy) Info() router.Info {
	return router.Info{Name: "spy", Version: "1.0.0", Routes: true, Cached: true, Blocks: true}
}

func (s *spy) Route(in router.Input) router.Decision {
	s.last = in
	s.last.Workers, s.last.Cached = slices.Clone(in.Workers), slices.Clone(in.Cached)
	return router.Decision{}
}

// Memory is a twin that remembers what it saw: rule as above, and told, which gets
// the worker that every request was sent to.
type Memory func() (rule Rule, told func(seen Seen, worker string))

// Twin drives a strategy through the real core with random workers and traffic
// and holds each of its choices to the rule.
func Twin(t *testing.T, d router.Definition, o router.Options, rule Rule) {
	TwinWithMemory(t, d, o, func() (Rule, func(Seen, string)) { return rule, func(Seen, string) {} })
}

// TwinWithMemory is Twin with a new memory for each world.
func TwinWithMemory(t *testing.T, d router.Definition, o router.Options, memory Memory) {
	rng := rand.New(rand.NewPCG(1, router.HashID(d.Name+fmt.Sprint(o))))
	decided := 0
	for range 25 {
		w := &world{now: router.Time(0).Add(24 * time.Hour)}
		w.definitions = []router.Definition{d}
		watch := &spy{}
		rule, told := memory()
		if err := w.with(watch, d, o); err != nil {
			t.Fatal(err)
		}
		n := 1 + rng.IntN(8)
		if err := w.core.SetFleet(w.now, randomFleet(rng, n)); err != nil {
			t.Fatal(err)
		}
		for range 120 {
			if rng.IntN(20) == 0 {
				w.now = w.now.Add(time.Duration(rng.Int64N(int64(30 * time.Second))))
				w.core.Tick(w.now)
			}
			if _, err := w.plan(); err != nil {
				t.Fatal(err)
			}
			decided += w.twinStep(t, rng, watch, d.Name, rule, told)
		}
	}
	if decided < 500 {
		t.Errorf("%s decided only %d requests: the test tests little", d.Name, decided)
	}
}

func (w *world) with(watch *spy, d router.Definition, o router.Options) error {
	instance, err := d.New(o, 1)
	if err != nil {
		return err
	}
	w.instances = []router.Instance{watch, instance}
	w.core, err = router.New(router.Config{Pool: "pool", Seed: 1, Links: []router.Link{
		{Name: "spy", Info: watch.Info()}, {Name: d.Name, Info: instance.Info()},
	}})
	return err
}

func randomFleet(rng *rand.Rand, n int) (members []router.Member) {
	figure := func(most int) float64 { return float64(rng.IntN(most)) / 10 }
	for i := range n {
		m := router.Member{Worker: router.Worker{
			ID: fmt.Sprintf("w%d", i), Incarnation: 1, KVTokens: []int{0, 400, 4000}[rng.IntN(3)],
			Energy: router.Energy{PrefillJoules: figure(5), DecodeJoules: figure(8), WakeWatts: figure(3)},
			Carbon: router.Carbon{GramsPerKWh: router.Unknown},
		}}
		if rng.IntN(4) == 0 {
			m.Concurrency = 1 + rng.IntN(12)
		}
		for _, g := range []*router.Gauge{&m.Load.Running, &m.Load.Waiting, &m.Load.KVUsed} {
			if *g = router.Unknown; rng.IntN(5) > 0 {
				*g = router.Gauge{Value: float64(rng.IntN(10)) / 10, At: 1}
			}
		}
		members = append(members, m)
	}
	return members
}

// twinStep ends or begins a request, and reports 1 if the strategy chose.
func (w *world) twinStep(t *testing.T, rng *rand.Rand, watch *spy, name string, rule Rule, told func(Seen, string)) int {
	if len(w.open) > 0 && rng.IntN(3) == 0 {
		i := rng.IntN(len(w.open))
		switch r := w.open[i]; rng.IntN(3) {
		case 0:
			w.core.FirstToken(w.now, r.ticket)
		default:
			w.open = slices.Delete(w.open, i, i+1)
			w.now = w.now.Add(time.Duration(rng.Int64N(int64(time.Second))))
			w.core.Finish(w.now, r.ticket, router.Ending{Outcome: router.Completed, Usage: router.Usage{OutputTokens: meanOutput}})
			w.ended = true
			w.observe()
		}
		return 0
	}
	prompt := 10 * (1 + rng.IntN(60))
	arriving := router.Request{
		Key: rng.Uint64N(30), PromptTokens: prompt, MaxTokens: rng.IntN(3) * 50,
		Blocks: w.prompt(1+rng.Uint64N(12), prompt), BlockTokens: 10,
	}
	seen := Seen{Planned: w.planned, Output: float64(arriving.MaxTokens)}
	if w.ended && (arriving.MaxTokens == 0 || arriving.MaxTokens > meanOutput) {
		seen.Output = meanOutput
	}
	for _, m := range w.core.Loads(w.now) {
		if !m.Down {
			seen.Up = append(seen.Up, m)
		}
	}
	watch.last = router.Input{}
	step := w.core.Arrive(w.now, arriving)
	for w.observe(); step.Kind == router.DoAsk; w.observe() {
		step = w.core.Answer(w.now, step.Ticket, w.instances[step.Link].(router.Strategy).Route(step.Input), true)
	}
	if step.Kind != router.DoDispatch {
		return 0
	}
	w.open = append(w.open, request{step.Ticket, step.Worker.ID})
	if seen.Input = watch.last; len(seen.Workers) == 0 {
		return 0
	}
	defer told(seen, step.Worker.ID)
	if step.Receipt.Strategy != name {
		return 0
	}
	if may := rule(seen); !slices.Contains(may, step.Worker.ID) {
		t.Fatalf("%s sent %+v to %s, the twin to %v\nworkers %+v\ncached %v", name, arriving, step.Worker.ID, may, seen.Workers, seen.Cached)
	}
	return 1
}

// Least returns the IDs of the workers with the least cost, for rules.
func Least(workers []router.Worker, cost func(i int) float64) (ids []string) {
	least := 0.0
	for i, w := range workers {
		switch c := cost(i); {
		case len(ids) == 0 || c < least:
			least, ids = c, []string{w.ID}
		case c == least:
			ids = append(ids, w.ID)
		}
	}
	return ids
}
