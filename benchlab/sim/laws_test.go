package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// finishedLab is a lab at the end of a good run.
func finishedLab(t *testing.T) *lab {
	l, err := newLab(Config{Trace: traffic(call(0, 32, 3, 1, 1, 2), call(9*ms, 40, 2, 1, 1, 2, 3)), Workers: Fleet(2, tenfold())})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestBrokenLaws tampers with the books of a good run.
func TestBrokenLaws(t *testing.T) {
	if err := finishedLab(t).laws(); err != nil {
		t.Fatal(err)
	}
	for name, tamper := range map[string]func(*lab){
		"output":   func(l *lab) { l.requests[0].Output++ },
		"cached":   func(l *lab) { l.requests[1].Cached += 16 },
		"prompt":   func(l *lab) { l.requests[0].Prompt-- },
		"worker":   func(l *lab) { l.requests[0].Worker ^= 1 },
		"order":    func(l *lab) { l.requests[0].First = l.requests[0].Ended + 1 },
		"pending":  func(l *lab) { l.requests[1].Outcome = measure.Pending },
		"two ends": func(l *lab) { l.end(l.jobs.open(0), measure.Complete) },
		"core":     func(l *lab) { l.gateway.core.Arrive(l.now, router.Request{}) },
		"machine":  func(l *lab) { _ = l.submit(0, l.jobs.work(l.jobs.open(0))) },
		"waiting":  func(l *lab) { l.gateway.waiting[1] = 1 },
	} {
		l := finishedLab(t)
		tamper(l)
		if err := l.laws(); !errors.Is(err, ErrLaw) {
			t.Errorf("%s: got %v, want a broken law", name, err)
		}
	}
}

// TestLaws runs random traffic through chains with strategies that route, hold,
// wait, refuse and answer nonsense; Run checks the laws.
func TestLaws(t *testing.T) {
	chains := [][]string{{"cacheroute", "sticky", "joule"}, {"chwbl"}, {"lmetric"}, {}}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := Config{Trace: randomTrace(rng), Workers: Fleet(1+rng.IntN(4), tenfold()), Seed: seed, Chain: chain(t, chains[seed%4]...)}
		for i := range c.Workers {
			c.Workers[i].Concurrency = rng.IntN(4)
		}
		c.Chain = append(c.Chain, Link{"fickle", fickle(rng)})
		c.Options.PlanDelay = time.Duration(rng.IntN(3)) * 300 * ms
		c.Options.DecisionDelay = time.Duration(rng.IntN(3)) * 15 * ms
		if _, err := Run(context.Background(), c); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func randomTrace(rng *rand.Rand) *trace.Trace {
	var requests []trace.Request
	at := time.Duration(0)
	for range 200 {
		at += time.Duration(rng.ExpFloat64() * float64(80*ms))
		session := rng.Uint64N(12)
		r := call(at, 1+rng.IntN(1700), rng.IntN(30), session)
		for i := range (r.Input + 15) / 16 {
			r.Blocks = append(r.Blocks, session<<32|uint64(i))
		}
		requests = append(requests, r)
	}
	t := traffic(requests...)
	t.Scope = trace.Scope(rng.IntN(2))
	return t
}

// fickle decides at random.
func fickle(rng *rand.Rand) *custom {
	info := router.Info{Routes: true, Cached: true, Blocks: true, Observes: []router.EventKind{router.Dispatched, router.Finished}}
	last := uint64(0)
	return &custom{
		info: info,
		route: func(in router.Input) router.Decision {
			switch rng.IntN(6) {
			case 0:
				return router.Decision{}
			case 1:
				return router.Decision{Verdict: router.Wait, RetryAfter: time.Duration(rng.IntN(3)) * 100 * ms}
			case 2:
				return router.Decision{Verdict: router.Refuse}
			case 3:
				return router.Decision{Verdict: router.Verdict(9)}
			default:
				d := to(rng.IntN(len(in.Workers)+2)-1, "any")
				d.Hold.TTL = time.Duration(rng.IntN(2)) * time.Second
				return d
			}
		},
		observe: func(events []router.Event) {
			if !slices.IsSortedFunc(events, func(a, b router.Event) int { return int(a.Number) - int(b.Number) }) || events[0].Number <= last {
				panic(fmt.Sprint("events out of order: ", events))
			}
			last = events[len(events)-1].Number
		},
	}
}
