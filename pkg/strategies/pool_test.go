package strategies

import (
	"fmt"
	"testing"

	"gatewayd/pkg/router"
)

// pool is a core with one strategy and equal workers.
type pool struct {
	core     *router.Core
	instance router.Instance
}

func newPool(t *testing.T, name string, o router.Options, workers int, w router.Worker) *pool {
	t.Helper()
	return newSeededPool(t, 1, name, o, workers, w)
}

// newSeededPool is newPool with a seed; the built-in needs no link.
func newSeededPool(t *testing.T, seed uint64, name string, o router.Options, workers int, w router.Worker) *pool {
	t.Helper()
	p, config := &pool{}, router.Config{Pool: "herd", Seed: seed}
	if name != router.BuiltIn {
		d, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.instance, err = d.New(o, 1); err != nil {
			t.Fatal(err)
		}
		config.Links = []router.Link{{Name: name, Info: p.instance.Info()}}
	}
	var err error
	if p.core, err = router.New(config); err != nil {
		t.Fatal(err)
	}
	var members []router.Member
	for i := range workers {
		w.ID = fmt.Sprintf("w%d", i)
		members = append(members, router.Member{Worker: w})
	}
	if err := p.core.SetFleet(0, members); err != nil {
		t.Fatal(err)
	}
	p.plan(t, 0)
	return p
}

// plan makes the plans that are due.
func (p *pool) plan(t *testing.T, now router.Time) {
	t.Helper()
	for _, task := range p.core.PlansDue(now) {
		plan, err := p.instance.(router.Planner).Plan(task.Input())
		if err != nil {
			t.Fatal(err)
		}
		plan.Version = task.Version
		compiled, err := router.Compile(&plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.core.Install(now, task.Link, compiled); err != nil {
			t.Fatal(err)
		}
	}
}

// send sends a request and returns the worker that the strategy chose.
func (p *pool) send(t *testing.T, r router.Request) string {
	t.Helper()
	s := p.take(t, 0, r)
	if s.Receipt.Strategy == router.BuiltIn && p.instance != nil {
		t.Fatalf("decided by %q", s.Receipt.Strategy)
	}
	return s.Worker.ID
}

// take has a request arrive and asks the strategy if that is to be done.
func (p *pool) take(t *testing.T, now router.Time, r router.Request) router.Step {
	t.Helper()
	s := p.core.Arrive(now, r)
	for ; s.Kind == router.DoAsk; s = p.core.Answer(now, s.Ticket, p.instance.(router.Strategy).Route(s.Input), true) {
		if o, ok := p.instance.(router.Observer); ok {
			o.Observe(p.core.TakeEvents(0, nil))
		}
	}
	if s.Kind != router.DoDispatch {
		t.Fatalf("step %d", s.Kind)
	}
	return s
}

// prompt is one that shares nothing with any other.
func prompt(i int, tokens int) router.Request {
	blocks := make([]uint64, tokens/16)
	for b := range blocks {
		blocks[b] = router.Mix(uint64(i+1)<<20 + uint64(b))
	}
	return router.Request{Key: uint64(i + 1), PromptTokens: tokens, Blocks: blocks, BlockTokens: 16, MaxTokens: 100}
}
