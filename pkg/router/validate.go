package router

import (
	"fmt"
	"math"
)

// Bounds of what a plan may hold.
const (
	MaxPlanWorkers = 1 << 15
	MaxPlanKeys    = 1 << 24
)

// Validate checks that the plan is well formed: indexes in range, offsets
// ascending, keys and weights usable. The core executes only valid plans.
func (p *Plan) Validate() error {
	if n := len(p.Workers); n > MaxPlanWorkers {
		return fmt.Errorf("plan names %d workers, at most %d are allowed", n, MaxPlanWorkers)
	}
	seen := make(map[string]bool, len(p.Workers))
	for i, w := range p.Workers {
		if w.ID == "" || seen[w.ID] {
			return fmt.Errorf("plan worker %d: ID %q is empty or repeated", i, w.ID)
		}
		seen[w.ID] = true
	}
	if err := p.Table.validate(len(p.Workers)); err != nil {
		return err
	}
	if err := p.Guard.validate(); err != nil {
		return err
	}
	if err := p.Rest.validate(len(p.Workers)); err != nil {
		return err
	}
	if p.Bind.TTL < 0 || !(p.Bind.MinCached >= 0 && p.Bind.MinCached <= 1) {
		return fmt.Errorf("plan bind: TTL %v must not be negative and min cached share %v must be in 0..1", p.Bind.TTL, p.Bind.MinCached)
	}
	if p.Next < 0 {
		return fmt.Errorf("plan wants the next one after %v; the time must not be negative", p.Next)
	}
	if err := perWorker("speed", p.Speeds, len(p.Workers)); err != nil {
		return err
	}
	return perWorker("expected load", p.Expected, len(p.Workers))
}

// perWorker checks figures of which there is none or one of each worker.
func perWorker(what string, figures []float64, workers int) error {
	if figures != nil && len(figures) != workers {
		return fmt.Errorf("plan has the %s of %d workers, but names %d", what, len(figures), workers)
	}
	for i, v := range figures {
		if !(v >= 0 && v < math.Inf(1)) {
			return fmt.Errorf("plan worker %d: %s %v must be a finite number of at least 0", i, what, v)
		}
	}
	return nil
}

func (t *Table) validate(workers int) error {
	if len(t.Keys) == 0 && len(t.Members) == 0 && len(t.Offsets) <= 1 {
		return nil
	}
	if len(t.Keys) > MaxPlanKeys {
		return fmt.Errorf("plan table has %d keys, at most %d are allowed", len(t.Keys), MaxPlanKeys)
	}
	if len(t.Offsets) != len(t.Keys)+1 || t.Offsets[0] != 0 || int(t.Offsets[len(t.Keys)]) != len(t.Members) {
		return fmt.Errorf("plan table offsets do not frame %d keys and %d members", len(t.Keys), len(t.Members))
	}
	for i := range t.Keys {
		if t.Offsets[i+1] <= t.Offsets[i] || int(t.Offsets[i+1]) > len(t.Members) {
			return fmt.Errorf("plan table key %d has no workers, or offsets that do not ascend", t.Keys[i])
		}
	}
	for _, m := range t.Members {
		if int(m) >= workers {
			return fmt.Errorf("plan table names worker %d of %d", m, workers)
		}
	}
	return nil
}

func (g *Guard) validate() error {
	if g.Factor == 0 {
		return nil
	}
	if g.Of != InFlight && g.Of != QueuedTokens {
		return fmt.Errorf("plan guard is of %v; it must be of %v or %v", g.Of, InFlight, QueuedTokens)
	}
	if !(g.Factor >= 1 && g.Factor < math.Inf(1)) || !(g.Slack >= 0 && g.Slack < math.Inf(1)) {
		return fmt.Errorf("plan guard: factor %v must be 0 or >= 1 and slack %v >= 0, both finite", g.Factor, g.Slack)
	}
	return nil
}

func (r *Rest) validate(workers int) error {
	if r.Order > ByRotation {
		return fmt.Errorf("plan rest has unknown order %d", r.Order)
	}
	if r.Sample < 0 {
		return fmt.Errorf("plan rest samples %d workers", r.Sample)
	}
	seen := make([]bool, workers)
	for _, w := range r.Among {
		if int(w) >= workers || seen[w] {
			return fmt.Errorf("plan rest is among worker %d of %d, which is unknown or repeated", w, workers)
		}
		seen[w] = true
	}
	if math.IsNaN(r.Bound) {
		return fmt.Errorf("plan rest has a bound that is not a number")
	}
	for _, row := range []Row{r.Cost, r.Limit} {
		for _, t := range row {
			if t.Feature >= numFeatures {
				return fmt.Errorf("plan row has unknown feature %d (feature list version %d)", t.Feature, FeatureVersion)
			}
			if n := len(t.Weights); n != 1 && n != workers {
				return fmt.Errorf("plan row for %v has %d weights; it needs 1 or %d", t.Feature, n, workers)
			}
			for _, w := range t.Weights {
				if math.IsNaN(w) || math.IsInf(w, 0) {
					return fmt.Errorf("plan row for %v has a weight that is not finite", t.Feature)
				}
			}
		}
	}
	return nil
}
