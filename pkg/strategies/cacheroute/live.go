package cacheroute

import (
	"fmt"
	"math"
	"slices"

	"gatewayd/pkg/router"
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
	if c.measured(in) {
		zones.Split, zones.Flat = zones.Split*in.Depth, zones.Flat*in.Depth
	}
	moves := p.movesOf(before, &placed.Table, rates)
	stale := placed.without(moves)
	undone := c.account(in, p, zones, t).settle(&placed, &stale, moves)
	plan := router.Plan{
		Table: placed.Table, Expected: p.expected(&placed), Guard: c.guard,
		Rest: c.restOf(in, zones), Bind: c.bindOf(in, zones),
	}
	if t.most == unplanned {
		plan.Bind = router.Bind{} // a key tells little about what its prompts begin with
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
