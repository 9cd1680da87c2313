package cacheroute

import (
	"fmt"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
)

// Planned makes a placement that carries on from the one before it.
type Planned struct {
	IDs  []string // the workers' IDs, each once; they decide rendezvous homes
	QCap float64  // requests per second of one key that a worker should carry, > 0
	// Budget is what each worker may hold of admitted keys, in the unit of
	// KeyRate.Tokens; nil sets no bound.
	Budget []float64
	// Tokens is the size of a key whose KeyRate.Tokens is 0.
	Tokens float64
	// Speed is the work that each worker does in a time, relative to the others, each
	// above 0; nil = all do as much. Loads are balanced as load by speed.
	Speed []float64
	// Near is how far, as a share of the mean load, a rendezvous home may lie
	// above the least loaded worker and still be preferred, >= 0.
	Near float64
	// Bound is the imbalance above which keys are moved, >= 1.
	Bound float64
	// Unkeyed is the rate of requests that no given key accounts for, >= 0.
	Unkeyed float64
	evening float64 // req/s of more requests, each to the least loaded worker

	// What only Divide looks at:

	// HalfLife is that of the rates in seconds; 0 = unknown.
	HalfLife float64
	// Everywhere is the rate from which a key lives on every worker, as a share of
	// the mean load of a worker; 0 = none does.
	Everywhere float64
	// Base is what a request costs a worker besides computing what is not cached,
	// in prompt tokens; 0 = misses cost nothing, loads are counted in requests.
	Base float64
	// Waste is what a request puts into a cache besides what is asked for again, in
	// tokens: its answer and the end of its prompt.
	Waste float64
	// Cold are the workers that cold traffic lived on so far.
	Cold []uint16
}

// Defaults of Planned.
const (
	DefaultNear  = 0.05
	DefaultBound = 1.10
	// DefaultEverywhere is a large part of the mean load, since a copy costs a
	// place on each worker.
	DefaultEverywhere = 0.5
)

// hysteresis is how far a key's rate may leave the range of its present number of
// copies before that number changes.
const hysteresis = 0.1

// Place admits keys by decreasing rate, skipping those that do not fit into the
// budget, keeps the homes of previous, gives new keys their rendezvous home if
// it is near the least loaded worker, else that worker, and then moves single
// keys from the hottest to the coldest workers until imbalance is within the
// bound or no move helps. Other workers are held to a looser bound, both ways.
//
// Rates must be in ascending order of keys, each key once; previous, in terms of
// the present workers, may be nil. It fails on anything out of range.
func (p Planned) Place(rates []router.KeyRate, previous *router.Table) (Placement, error) {
	if previous == nil {
		previous = &router.Table{}
	}
	if err := p.check(rates, previous); err != nil {
		return Placement{}, err
	}
	return p.place(rates, nil, previous), nil
}

// place is Place for the keys that a filter lets pass.
func (p Planned) place(rates []router.KeyRate, only *filter, previous *router.Table) Placement {
	d := newDraft(p, rates, previous)
	d.admit(byRate(rates, only))
	if d.keep() {
		d.settle()
	}
	d.count()
	d.balance()
	return d.placement()
}

func (p Planned) check(rates []router.KeyRate, previous *router.Table) error {
	if err := p.checkSelf(); err != nil {
		return err
	}
	if err := planner.Rates(rates); err != nil {
		return err
	}
	if err := planner.Ascending(rates); err != nil {
		return err
	}
	if err := planner.Table(previous, len(p.IDs)); err != nil {
		return fmt.Errorf("previous %w", err)
	}
	return nil
}

func (p Planned) checkSelf() error {
	if err := workers(len(p.IDs)); err != nil {
		return err
	}
	if err := positive("qcap", p.QCap); err != nil {
		return err
	}
	if p.Budget != nil && len(p.Budget) != len(p.IDs) {
		return fmt.Errorf("%d budgets for %d workers", len(p.Budget), len(p.IDs))
	}
	if p.Speed != nil && len(p.Speed) != len(p.IDs) {
		return fmt.Errorf("%d speeds for %d workers", len(p.Speed), len(p.IDs))
	}
	for _, s := range p.Speed {
		if err := positive("speed", s); err != nil {
			return err
		}
	}
	for _, b := range p.Budget {
		if !(b >= 0 && b <= planner.Most) {
			return fmt.Errorf("budget %v must be a number of tokens of at least 0", b)
		}
	}
	if !(p.Near >= 0) || !(p.Bound >= 1) || !(p.Tokens >= 0) || !(p.Unkeyed >= 0 && p.Unkeyed <= planner.Most) {
		return fmt.Errorf("near %v, tokens %v and unkeyed rate %v must be at least 0, bound %v at least 1", p.Near, p.Tokens, p.Unkeyed, p.Bound)
	}
	return nil
}

// sizeOf is what a key takes of a budget.
func (p *Planned) sizeOf(r router.KeyRate) float64 {
	if r.Tokens > 0 {
		return r.Tokens
	}
	return p.Tokens
}
