package rules

import (
	"context"
	"math/rand/v2"
	"reflect"

	"gatewayd/pkg/router"
)

// compare plays a script twice and notes where the answers differ.
func (t *trial) compare(what string, a, b []answer, text func(answer) string) {
	if len(a) != len(b) {
		return // the check was ended
	}
	for i := range a {
		if x, y := text(a[i]), text(b[i]); x != y {
			x, y = differs(x, y)
			t.found("call %d: %s: %q, then %q", i+1, what, x, y)
		}
	}
}

func exactly(a answer) string { return says(a, -1) }

func deterministic(ctx context.Context, t *trial) {
	o := t.fresh(t.def)
	if o == nil {
		return
	}
	defer o.close()
	again := t.play(ctx, o, script(o.info, scriptSteps, true), change{})
	t.compare("the same was answered in two ways", t.base, again, exactly)
}

func elsewhere(ctx context.Context, t *trial) {
	if t.cfg.Twin == nil {
		t.skip("there is no other process")
		return
	}
	o := t.fresh(*t.cfg.Twin)
	if o == nil {
		return
	}
	defer o.close()
	there := t.play(ctx, o, script(o.info, scriptSteps, true), change{})
	t.compare("it was answered otherwise in another process", t.base, there, exactly)
}

// untouched compares each input with its copy after the call, and then scribbles
// over it: a strategy that has kept it answers otherwise later.
func untouched(ctx context.Context, t *trial) {
	if t.remote {
		t.skip("a strategy in another process gets a copy")
		return
	}
	o := t.fresh(t.def)
	if o == nil {
		return
	}
	defer o.close()
	after := t.play(ctx, o, script(o.info, scriptSteps, true), change{after: func(i int, before, given step) {
		if !reflect.DeepEqual(before, given) {
			t.found("call %d: the input was changed", i+1)
		}
		scribble(given)
	}})
	if len(t.result.Findings) == 0 {
		t.compare("an input was kept, and its changes later seen", t.base, after, exactly)
	}
}

func scribble(s step) {
	if s.route != nil {
		for i := range s.route.Workers {
			s.route.Workers[i] = router.Worker{ID: "scribble", Load: router.Load{InFlight: 1 << 20}}
		}
		for i := range s.route.Request.Blocks {
			s.route.Request.Blocks[i] = 7
		}
		for i := range s.route.Cached {
			s.route.Cached[i] = 1 << 20
		}
		return
	}
	for i := range s.plan.Fleet.Workers {
		s.plan.Fleet.Workers[i] = router.Worker{ID: "scribble", Load: router.Load{InFlight: 1 << 20}}
	}
	for i := range s.plan.Rates {
		s.plan.Rates[i] = router.KeyRate{Key: 7, Rate: 1e6}
	}
}

// order plays a script without ties to one instance as it is and to another with
// the workers of each input shuffled.
func order(ctx context.Context, t *trial) {
	a := t.fresh(t.def)
	if a == nil {
		return
	}
	defer a.close()
	b := t.fresh(t.def)
	if b == nil {
		return
	}
	defer b.close()
	rng := rand.New(rand.NewPCG(seed, 3))
	steps := script(a.info, scriptSteps, false)
	plain := t.play(ctx, a, steps, change{})
	shuffled := t.play(ctx, b, steps, change{
		route: func(_ int, in *router.Input) {
			rng.Shuffle(len(in.Workers), func(i, k int) {
				in.Workers[i], in.Workers[k] = in.Workers[k], in.Workers[i]
				if len(in.Cached) > 0 {
					in.Cached[i], in.Cached[k] = in.Cached[k], in.Cached[i]
				}
			})
		},
		plan:  func(_ int, in *router.PlanInput) { shufflePlan(rng, in) },
		again: true,
	})
	t.compare("workers in another order were answered otherwise", plain, shuffled, choice)
}

func shufflePlan(rng *rand.Rand, in *router.PlanInput) {
	at := rng.Perm(len(in.Fleet.Workers))
	workers := make([]router.Worker, len(at))
	for i, w := range in.Fleet.Workers {
		workers[at[i]] = w
	}
	in.Fleet.Workers = workers
	for i := range in.Rates {
		if home := in.Rates[i].Home; home > 0 {
			in.Rates[i].Home = at[home-1] + 1
		}
	}
}
