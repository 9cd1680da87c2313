package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"text/tabwriter"
	"time"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// gateway is a core under its lock, with a plan of many keys in force, which makes
// decisions all the time.
type gateway struct {
	mu    sync.Mutex
	core  *router.Core
	began time.Time

	taken sync.Mutex
	times []time.Duration // of decisions since they were last taken
}

func newGateway() (*gateway, error) {
	core, err := router.New(router.Config{Pool: "pool", Links: []router.Link{{Name: "million", Info: router.Info{Plans: true}}}})
	if err != nil {
		return nil, err
	}
	g := &gateway{core: core, began: time.Now()}
	members := make([]router.Member, 64)
	for i := range members {
		members[i] = router.Member{Worker: router.Worker{ID: "w" + strconv.Itoa(i), Incarnation: 1}}
	}
	return g, core.SetFleet(g.now(), members)
}

func (g *gateway) now() router.Time { return router.Time(0).Add(time.Since(g.began)) }

// decide makes decisions one after the other until stop is closed.
func (g *gateway) decide(keys int, stop <-chan struct{}) {
	for n := uint64(0); ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		began := time.Now()
		g.mu.Lock()
		step := g.core.Arrive(g.now(), router.Request{Key: (router.Mix(n)%uint64(keys) + 1) << 40})
		g.core.Finish(g.now(), step.Ticket, router.Ending{Outcome: router.Completed})
		g.mu.Unlock()
		took := time.Since(began)
		g.taken.Lock()
		g.times = append(g.times, took)
		g.taken.Unlock()
	}
}

// p99 of the decisions since the last call.
func (g *gateway) p99() time.Duration {
	g.taken.Lock()
	times := g.times
	g.times = nil
	g.taken.Unlock()
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[len(times)*99/100]
}

// pushed are the parts of one plan's way into force, and the CPU time of both ends
// for all of it.
type pushed struct{ push, compile, install, cpu, before, during time.Duration }

func (p pushed) all() time.Duration { return p.push + p.compile + p.install }

// push has the plugin plan and puts the plan in force.
func (g *gateway) push(ctx context.Context, planner *plugin.Instance, previous *router.Plan) (pushed, *router.Plan, error) {
	var p pushed
	began := time.Now()
	lap := func() time.Duration {
		took := time.Since(began)
		began = began.Add(took)
		return took
	}
	plan, err := planner.PlanContext(ctx, router.PlanInput{Pool: "pool", Previous: previous}, plugin.TraceContext{})
	if err != nil {
		return p, nil, err
	}
	p.push = lap()
	plan.Version = uint64(g.now())
	compiled, err := router.Compile(&plan)
	if err != nil {
		return p, nil, err
	}
	p.compile = lap()
	g.mu.Lock()
	err = g.core.Install(g.now(), 0, compiled)
	g.mu.Unlock()
	p.install = lap()
	return p, &plan, err
}

// round has a plan come into force twice: alone, for its times, and while decisions
// go on, for theirs.
func (g *gateway) round(ctx context.Context, s settings, e *ends, previous *router.Plan) (pushed, *router.Plan, error) {
	before, err := e.planning.cpu()
	if err != nil {
		return pushed{}, nil, err
	}
	p, plan, err := g.push(ctx, e.planner, previous)
	if err != nil {
		return p, nil, err
	}
	after, err := e.planning.cpu()
	if err != nil {
		return p, nil, err
	}
	p.cpu = after - before

	stop, decider := make(chan struct{}), sync.WaitGroup{}
	decider.Go(func() { g.decide(s.keys, stop) })
	defer decider.Wait()
	defer close(stop)
	if previous != nil {
		previous = plan
	}
	if err := pause(ctx, s.span/2); err != nil {
		return p, nil, err
	}
	p.before = g.p99()
	_, plan, err = g.push(ctx, e.planner, previous)
	p.during = g.p99()
	return p, plan, err
}

// plans measures how plans come into force while decisions go on.
func plans(ctx context.Context, s settings, e *ends, out io.Writer) error {
	g, err := newGateway()
	if err != nil {
		return err
	}
	_, previous, err := g.push(ctx, e.planner, nil)
	if err != nil {
		return err
	}
	rows := map[bool][]pushed{}
	for range s.rounds {
		for _, whole := range []bool{true, false} {
			was := previous
			if whole {
				was = nil
			}
			p, plan, err := g.round(ctx, s, e, was)
			if err != nil {
				return err
			}
			rows[whole], previous = append(rows[whole], p), plan
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "plan of %d keys\tpush\tcompile\tinstall\tall\tCPU of both ends\tp99 of decisions before\tduring\n", s.keys)
	for _, whole := range []bool{true, false} {
		p := middles(rows[whole])
		name := map[bool]string{true: "whole", false: "one key in 100 changed"}[whole]
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%v\t%v\t%v\t%v\n", name, short(p.push), short(p.compile), short(p.install), short(p.all()), short(p.cpu), short(p.before), short(p.during))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	whole := middles(rows[true])
	return verdicts(out,
		verdict{"a whole plan, in ms (of CPU, if others had it)", min(whole.all(), whole.cpu).Seconds() * 1e3, maxPush.Seconds() * 1e3},
		verdict{"p99 of decisions meanwhile, to before", ratio(whole.during, whole.before), maxPause},
	)
}

func middles(rows []pushed) pushed {
	pick := func(f func(pushed) time.Duration) time.Duration {
		var values []time.Duration
		for _, p := range rows {
			values = append(values, f(p))
		}
		return middle(values)
	}
	return pushed{
		push: pick(func(p pushed) time.Duration { return p.push }), compile: pick(func(p pushed) time.Duration { return p.compile }),
		install: pick(func(p pushed) time.Duration { return p.install }),
		cpu:     pick(func(p pushed) time.Duration { return p.cpu }),
		before:  pick(func(p pushed) time.Duration { return p.before }), during: pick(func(p pushed) time.Duration { return p.during }),
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
