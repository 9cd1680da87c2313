package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
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
		"two ends": func(l *lab) { l.end(l.jobs.open(0, 0), measure.Complete) },
		"core":     func(l *lab) { l.gateways[0].core.Arrive(l.now, router.Request{}) },
		"machine":  func(l *lab) { _ = l.submit(0, l.jobs.open(0, 0)) },
		"waiting":  func(l *lab) { l.gateways[0].waiting[1] = 1 },
	} {
		l := finishedLab(t)
		tamper(l)
		if err := l.laws(); !errors.Is(err, ErrLaw) {
			t.Errorf("%s: got %v, want a broken law", name, err)
		}
	}
}

// TestLaws runs random traffic through random gateways, faults and chains with
// strategies that route, hold, wait, refuse and answer nonsense; Run checks the
// laws. Each config runs twice, once more slowly and beside others, with equal
// results.
func TestLaws(t *testing.T) {
	seen := map[measure.Outcome]int{}
	for seed := range uint64(40) {
		again := make(chan *measure.Run, 1)
		go func() {
			r, _ := Run(context.Background(), randomConfig(t, seed))
			again <- r
		}()
		r, err := Run(context.Background(), randomConfig(t, seed))
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		} else if !reflect.DeepEqual(r, <-again) {
			t.Errorf("seed %d: equal configs gave different runs", seed)
		} else {
			for i := range r.Requests {
				seen[r.Requests[i].Outcome]++
			}
		}
	}
	for o := measure.Complete; o <= measure.NoGateway; o++ {
		if seen[o] == 0 && o != measure.QueueFull {
			t.Errorf("nothing ended as %v; got %v", o, seen)
		}
	}
}

// randomConfig is a function of the seed.
func randomConfig(t *testing.T, seed uint64) Config {
	rng := rand.New(rand.NewPCG(seed, 1))
	chains := [][]string{{"cacheroute", "sticky", "joule"}, {"chwbl"}, {"lmetric"}, {}, {"sticky", "cacheroute"}}
	names := chains[rng.IntN(len(chains))]
	c := Config{Trace: randomTrace(rng), Workers: Fleet(1+rng.IntN(4), tenfold()), Seed: seed}
	for i := range c.Workers {
		c.Workers[i].Concurrency, c.Workers[i].Profile.MaxContext = rng.IntN(4), 1650*rng.IntN(2)
	}
	c.Open = func(n int) ([]Link, error) {
		return append(chain(t, names...), Link{"fickle", fickle(rand.New(rand.NewPCG(seed, uint64(n))))}), nil
	}
	c.Chain, _ = c.Open(0)
	ms := func(n int) time.Duration { return time.Duration(rng.IntN(n)) * time.Millisecond }
	c.Options = Options{
		Timing: Timing(rng.IntN(2)), Gateways: []int{0, 1, 2, 5}[rng.IntN(4)], Protect: rng.IntN(2) == 0,
		PlanDelay: ms(700), DecisionDelay: []time.Duration{0, 0, ms(40)}[rng.IntN(3)], StoreDelay: []time.Duration{0, ms(4)}[rng.IntN(2)],
		DetectDelay: ms(2000), SyncInterval: ms(3000) + 1e6, ScrapeInterval: ms(3000) + 1e6,
	}
	for range rng.IntN(6) {
		f := Fault{Kind: Crash + FaultKind(rng.IntN(int(GatewayCut))), Target: []int{Any, Any, Any, Any, All}[rng.IntN(5)], At: Any}
		if f.Kind == Slow {
			f.Factor = 0.5 + 3*rng.Float64()
		}
		if f.Kind.lasts() {
			f.For = ms(8000)
		}
		c.Options.Faults = append(c.Options.Faults, f)
	}
	return c
}

func randomTrace(rng *rand.Rand) *trace.Trace {
	var requests []trace.Request
	at := time.Duration(0)
	last := map[uint64]int32{}
	for row := range int32(200) {
		at += time.Duration(rng.ExpFloat64() * float64(80*ms))
		session := rng.Uint64N(12)
		r := call(at, 1+rng.IntN(1700), rng.IntN(30), session)
		for i := range (r.Input + 15) / 16 {
			r.Blocks = append(r.Blocks, session<<32|uint64(i))
		}
		if before, ok := last[session]; ok && session > 0 {
			r.After, r.Think = []int32{before}, time.Duration(rng.IntN(900))*ms
			if rng.IntN(4) == 0 {
				r.After = append(r.After, rng.Int32N(row))
			}
		}
		last[session] = row
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
