package survey

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"time"

	"gatewayd/benchlab/paper/chain"
	"gatewayd/benchlab/sim/signal"
	"gatewayd/pkg/router"
)

// Owners is traffic of owners of unequal rates, one request a second, on workers
// that hold so many prefixes. Zero fields take the default in their comment.
type Owners struct {
	Owners   int     // 2,000
	Exponent float64 // of their Zipf law; 1.1
	Arrivals int     // 40,000
	Workers  int     // 8
	Slots    int     // prefixes that a worker holds; 40
	// Ends is the share of prompts that end in as much again that nobody sends a second
	// time, 0..1.
	Ends float64
	// Open is how many later arrivals a request stays open for: what strategies see
	// as load is the number of the last Open requests at each worker; 800.
	Open int
	// HalfLife is that of measured rates, and Interval the time between plans of
	// strategies that state none, both in arrivals; 4,000 and 2,000.
	HalfLife, Interval int
	Signal             signal.Signal // the best one of reuse that strategies have
}

func (o Owners) withDefaults() Owners {
	for _, x := range []struct {
		v   *int
		def int
	}{{&o.Owners, 2000}, {&o.Arrivals, 40_000}, {&o.Workers, 8}, {&o.Slots, 40}, {&o.Open, 800}, {&o.HalfLife, 4000}, {&o.Interval, 2000}} {
		if *x.v <= 0 {
			*x.v = x.def
		}
	}
	if o.Exponent <= 0 {
		o.Exponent = 1.1
	}
	return o
}

// prefix is the length of a prompt without an end in tokens: one block, one slot.
const prefix = 512

// Run returns the share of the requests whose prefix was at the worker that served
// them, and the most requests of a worker over the mean.
func (o Owners) Run(ctx context.Context, text string, seed uint64) (hit, imbalance float64, err error) {
	o = o.withDefaults()
	caches, served, looked := make([]*slots, o.Workers), make([]float64, o.Workers), make([]float64, o.Workers)
	members, number := make([]router.Member, o.Workers), map[string]int{}
	for w := range members {
		id := fmt.Sprintf("worker-%03d", w)
		members[w].Worker = router.Worker{ID: id, KVTokens: o.Slots * prefix, Incarnation: 1}
		caches[w], number[id] = newSlots(o.Slots), w
	}
	g, err := chain.NewGateway(text, o.Signal, router.Config{
		Pool: "survey", Seed: seed, RateHalfLife: time.Duration(o.HalfLife) * time.Second, PlanInterval: time.Duration(o.Interval) * time.Second, MaxLife: math.MaxInt64,
	}, members)
	if err != nil {
		return 0, 0, err
	}
	draw, open, hits := o.zipf(seed), []ending{}, make([]float64, o.Workers)
	ends := rand.New(rand.NewPCG(seed, 0x656e6473)) // "ends"
	for i := range o.Arrivals {
		now := router.Time(i) * router.Time(time.Second)
		if err := context.Cause(ctx); err != nil {
			return 0, 0, err
		}
		if err := g.Tick(now); err != nil {
			return 0, 0, err
		}
		key := router.Mix(seed<<32 | draw() + 1)
		blocks := []uint64{key}
		if ends.Float64() < o.Ends {
			blocks = append(blocks, router.Mix(key^uint64(i)))
		}
		tokens := prefix * len(blocks)
		step, err := g.Place(now, router.Request{
			ID: strconv.Itoa(i), Key: key, PromptTokens: tokens, Blocks: blocks, BlockTokens: prefix,
		})
		if err != nil {
			return 0, 0, err
		}
		w, usage := number[step.Worker.ID], router.Usage{PromptTokens: tokens}
		for _, end := range blocks[1:] {
			caches[w].use(end)
		}
		if caches[w].use(key) {
			hits[w]++
			usage.CachedTokens = prefix
		}
		served[w]++
		looked[w] += float64(tokens)
		if o.Signal.Counted() {
			g.Core.SetCacheUse(now, step.Worker.ID, looked[w], hits[w]*prefix)
		}
		g.Core.FirstToken(now.Add(perToken*time.Duration(1+tokens-usage.CachedTokens)), step.Ticket)
		if open = append(open, ending{step.Ticket, o.Signal.Usage(usage)}); len(open) > o.Open {
			g.Core.Finish(now, open[0].ticket, router.Ending{Outcome: router.Completed, Usage: open[0].usage})
			open = open[1:]
		}
	}
	all, most := 0.0, slices.Max(served)
	for _, n := range hits {
		all += n
	}
	return all / float64(o.Arrivals), most * float64(o.Workers) / float64(o.Arrivals), nil
}

// perToken is what computing a token takes, which is over before the next arrival.
const perToken = time.Millisecond

// ending is how an open request will end.
type ending struct {
	ticket router.Ticket
	usage  router.Usage
}

// zipf draws owners, whose ranks are shuffled.
func (o Owners) zipf(seed uint64) (draw func() uint64) {
	rng := rand.New(rand.NewPCG(seed, 0x6f776e657273)) // "owners"
	sum, cumulative, names := 0.0, make([]float64, o.Owners), rng.Perm(o.Owners)
	for rank := range cumulative {
		sum += math.Pow(float64(rank+1), -o.Exponent)
		cumulative[rank] = sum
	}
	return func() uint64 {
		return uint64(names[min(sort.SearchFloat64s(cumulative, sum*rng.Float64()), o.Owners-1)])
	}
}
