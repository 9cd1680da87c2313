package rules

import (
	"context"
	"slices"
	"time"

	"gatewayd/pkg/router"
)

// change is what a rule does otherwise than the plain script. Each part may be nil.
type change struct {
	route func(i int, in *router.Input)     // before the call
	plan  func(i int, in *router.PlanInput) // before the call
	after func(i int, before, given step)   // a copy from before the call, and what the call was given
	// again asks for a plan as scripted if it was refused with the change: fleets
	// come ordered by ID, so that a planner may refuse others.
	again bool
}

// answer is what an instance said to one step.
type answer struct {
	asked    *router.Input // as it was asked; nil for plans
	planned  *router.PlanInput
	decision router.Decision
	plan     router.Plan
	err      error
	took     time.Duration
}

// play asks an instance one step after the other. It tells the instance what
// became of the requests, and gives each plan that it made to the next.
func (t *trial) play(ctx context.Context, o *opened, steps []step, c change) []answer {
	out := make([]answer, 0, len(steps))
	tell := teller{o: o}
	var last *router.Plan
	var lastAt router.Time
	for i, s := range steps {
		if ctx.Err() != nil {
			break
		}
		var a answer
		if s.route != nil {
			a = t.ask(ctx, o, i, *s.route, c)
			if err := tell.became(ctx, a); err != nil && a.err == nil {
				a.err = err
			}
		} else {
			in := clonePlanInput(*s.plan)
			if in.Previous = clonePlan(last); last != nil {
				in.PreviousAge = in.Now.Sub(lastAt)
			}
			a = t.plan(ctx, o, i, in, c)
			if a.err == nil && a.plan.Validate() == nil {
				p := a.plan
				p.Version = uint64(i + 1)
				last, lastAt = &p, in.Now
			}
		}
		out = append(out, a)
	}
	return out
}

func (t *trial) ask(ctx context.Context, o *opened, i int, in router.Input, c change) answer {
	in = cloneInput(in)
	if c.route != nil {
		c.route(i, &in)
	}
	given := cloneInput(in)
	began := time.Now()
	d, err := o.route(ctx, given)
	a := answer{asked: &in, decision: d, err: err, took: time.Since(began)}
	a.decision.Ranking = slices.Clone(d.Ranking)
	if c.after != nil {
		c.after(i, step{route: &in}, step{route: &given})
	}
	return a
}

func (t *trial) plan(ctx context.Context, o *opened, i int, in router.PlanInput, c change) answer {
	scripted := in
	if c.plan != nil {
		in = clonePlanInput(in)
		c.plan(i, &in)
	}
	given := clonePlanInput(in)
	began := time.Now()
	p, err := o.plan(ctx, given)
	if c.again && o.refused(err) {
		in = scripted
		p, err = o.plan(ctx, clonePlanInput(in))
	}
	a := answer{planned: &in, err: err, took: time.Since(began)}
	a.plan = *clonePlan(&p)
	if c.after != nil {
		c.after(i, step{plan: &in}, step{plan: &given})
	}
	return a
}

// teller tells an instance what became of requests, as far as it wants to know.
type teller struct {
	o      *opened
	number uint64
}

func (t *teller) became(ctx context.Context, a answer) error {
	if len(t.o.info.Observes) == 0 || len(a.asked.Workers) == 0 {
		return nil
	}
	in, at := a.asked, 0
	if r := a.decision.Ranking; len(r) > 0 && r[0].Worker >= 0 && r[0].Worker < len(in.Workers) {
		at = r[0].Worker
	}
	w := in.Workers[at]
	var events []router.Event
	for i, kind := range []router.EventKind{router.Arrived, router.Dispatched, router.FirstToken, router.Finished} {
		t.number++
		if !slices.Contains(t.o.info.Observes, kind) {
			continue
		}
		e := router.Event{Number: t.number, Kind: kind, At: in.Now.Add(time.Duration(i) * 100 * time.Millisecond), Request: in.Request.ID, Key: in.Request.Key}
		if kind != router.Arrived {
			e.Worker, e.Attempt, e.By = router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation}, 1, t.o.info.Name
		}
		if kind == router.Finished {
			e.Usage = router.Usage{PromptTokens: in.Request.PromptTokens, OutputTokens: 100, CachedTokens: -1}
		}
		events = append(events, e)
	}
	return t.o.observe(ctx, events)
}

func cloneInput(in router.Input) router.Input {
	in.Workers, in.Cached = slices.Clone(in.Workers), slices.Clone(in.Cached)
	in.Request.Blocks = slices.Clone(in.Request.Blocks)
	in.Facts = slices.Clone(in.Facts)
	for i := range in.Facts {
		in.Facts[i].Value = slices.Clone(in.Facts[i].Value)
	}
	return in
}

func clonePlanInput(in router.PlanInput) router.PlanInput {
	in.Fleet.Workers, in.Rates = slices.Clone(in.Fleet.Workers), slices.Clone(in.Rates)
	in.Previous = clonePlan(in.Previous)
	return in
}

func clonePlan(p *router.Plan) *router.Plan {
	if p == nil {
		return nil
	}
	q := *p
	q.Workers, q.Expected = slices.Clone(p.Workers), slices.Clone(p.Expected)
	q.Table = router.Table{Keys: slices.Clone(p.Table.Keys), Offsets: slices.Clone(p.Table.Offsets), Members: slices.Clone(p.Table.Members)}
	q.Rest.Among, q.Rest.Cost, q.Rest.Limit = slices.Clone(p.Rest.Among), cloneRow(p.Rest.Cost), cloneRow(p.Rest.Limit)
	return &q
}

func cloneRow(r router.Row) router.Row {
	r = slices.Clone(r)
	for i := range r {
		r[i].Weights = slices.Clone(r[i].Weights)
	}
	return r
}
