package cacheroute

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/row"
)

// live makes the plan of mode=planned: it carries on from the previous one.
func (c config) live(in router.PlanInput, qcap, unkeyed float64) (router.Plan, error) {
	p, rates, size := c.sized(in)
	p.QCap, p.Near, p.Bound, p.Unkeyed, p.Speed = qcap, c.near, c.bound, unkeyed, speeds(in)
	p.HalfLife, p.Everywhere = in.HalfLife.Seconds(), c.everywhere
	p.Base = base(in)
	p.Cold = coldOf(in.Previous, in.Fleet.Workers)
	before := carry(in.Previous, in.Fleet.Workers)
	lived := settled(before, in.Rates)
	t := c.try(in)
	least := 0.0
	if p.HalfLife > 0 {
		least = c.stated / p.HalfLife
	}
	if t.most == unplanned {
		least = math.Inf(1)
	}
	placed, zones, err := p.choose(rates, before, lived, t.most == divided && c.rest.Order != router.Abstain, least)
	if err != nil {
		return router.Plan{}, err
	}
	moves := p.movesOf(before, &placed.Table, rates)
	stale := placed.without(moves)
	undone := c.account(in, p, zones, t).settle(&placed, &stale, moves)
	plan := router.Plan{
		Table: placed.Table, Expected: p.expected(&placed), Guard: c.guard,
		Rest: c.restOf(in, zones), Bind: c.bindOf(in, zones),
	}
	plan.Speeds = p.Speed
	plan.Trial = t.next(in, wayOf(&plan))
	if c.calibrated {
		plan.Next = p.lasting(in, stale)
	}
	moved, churn := Churn(before, &placed.Table)
	plan.Note = fmt.Sprintf("%d of %d keys planned, imbalance %.3f, qcap %.4g req/s, %s, %s, %d moved, %d put off, churn %.3f",
		len(placed.Table.Keys), len(in.Rates), placed.Imbalance(), qcap, size, t.note(in, zones), len(moved), undone, churn)
	return plan, nil
}

// base is what a request costs besides its misses, in prompt tokens: its answer,
// and what is new in its prompt. Where the length of answers is not known, requests
// are counted.
func base(in router.PlanInput) float64 {
	if in.OutputTokens == 0 {
		return 0
	}
	return max(1, answer*in.OutputTokens+in.PromptTokens/10)
}

// answer is what a token of an answer costs in prompt tokens: a step of a batch
// of 16 takes about as long as 160 of them.
const answer = 10

// account is what moves are weighed with. A division that begins saves what is
// cached besides; the size of keys counts as what they have in their prompts.
func (c config) account(in router.PlanInput, p Planned, zones Zones, t trial) account {
	total := p.Unkeyed
	for _, r := range in.Rates {
		total += r.Rate
	}
	a := account{
		seconds: p.HalfLife, cached: in.Reuse.Share, most: c.stage * total,
		request: p.Base + (1-in.Reuse.Share)*max(1, p.Tokens),
	}
	if in.Reuse.By == router.NoSignal {
		return account{cached: 1} // nothing is known to pay
	}
	if len(zones.Cold) > 0 && t.was < divided {
		a.gained = max(0, zones.Split-zones.Flat) * total * p.Tokens
	}
	return a
}

// choose divides the workers if that is allowed and worth it. If not, keys below
// the least rate get no place: of keys that few requests speak for, holds and the
// index of prefixes know better where they are than a plan, which is made for
// longer than they live.
func (p Planned) choose(rates []router.KeyRate, before, lived *router.Table, divide bool, least float64) (Placement, Zones, error) {
	var zones Zones
	if divide {
		placed, z, err := p.Divide(rates, before, lived)
		if err != nil || len(z.Cold) > 0 {
			return placed, z, err
		}
		zones = z
	}
	if least > 0 {
		rates = slices.Clone(rates)
		kept := rates[:0]
		for _, r := range rates {
			if r.Rate >= least {
				kept = append(kept, r)
			} else {
				p.Unkeyed += r.Rate
			}
		}
		rates = kept
	}
	placed, err := p.whole(rates, lived)
	return placed, zones, err
}

// coldOf expresses the cold workers of a plan in terms of the present ones.
func coldOf(previous *router.Plan, workers []router.Worker) (cold []uint16) {
	if previous == nil {
		return nil
	}
	for i, w := range workers {
		for _, m := range previous.Rest.Among {
			if previous.Workers[m].ID == w.ID {
				cold = append(cold, uint16(i))
			}
		}
	}
	return cold
}

// restOf is the rule for keys without a place: on the cold workers if there are
// some, else on all, but only if no other strategy is to decide.
func (c config) restOf(in router.PlanInput, zones Zones) router.Rest {
	r := c.rest
	if r.Order == router.ByCost && r.Cost == nil {
		r.Cost = work(in.PromptTokens, len(zones.Cold) > 0, speeds(in))
	}
	r.Among = zones.Cold
	if c.auto && len(zones.Cold) == 0 && !in.Last {
		return router.Rest{}
	}
	return r
}

// bindOf has sessions held on the worker that served them, while a good part of
// their prompt is still cached there: after that moving costs nothing. Other
// gateways' turns are not in this one's index of prefixes, so with peers the part
// does not count.
func (c config) bindOf(in router.PlanInput, zones Zones) router.Bind {
	if c.paper || !c.auto || !in.Last || len(zones.Cold) > 0 {
		return router.Bind{}
	}
	bind := router.Bind{TTL: idle, MinCached: worthless}
	if slices.ContainsFunc(in.Fleet.Workers, func(w router.Worker) bool { return w.Load.PeersAge > 0 }) {
		bind.MinCached = 0
	}
	return bind
}

const (
	// idle is the time after which a session is taken for ended.
	idle = 5 * time.Minute
	// worthless is the share of a prompt below which its cache is not worth going
	// back for.
	worthless = 0.3
)

// work is what a request costs a worker, in prompt tokens: those it has to
// compute, those that wait there, what each running request slows it down, and a
// little for what its cache is asked to hold. prompt is the mean one, 0 = unknown.
// On cold workers, where nothing is held, load counts less, so that a key goes
// back to where it is cached. What is to be done counts by how fast the worker is,
// nil if all are equal.
func work(prompt float64, divided bool, speed []float64) router.Row {
	slower, weight := 500.0, 1.0
	if prompt > 0 {
		slower = min(slower, prompt/8)
	}
	if divided {
		weight = 0.2
	}
	by := func(f router.Feature, weight float64) router.Term {
		t := row.Same(f, weight)
		if speed != nil {
			t.Weights = make([]float64, len(speed))
			for w, s := range speed {
				t.Weights[w] = weight / s
			}
		}
		return t
	}
	return router.Row{
		by(router.Uncached, 1), by(router.QueuedTokens, weight), by(router.InFlight, weight*slower),
		row.Same(router.WorkingSet, 0.05*weight),
	}
}
