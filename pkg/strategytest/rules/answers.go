package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatewayd/pkg/router"
)

// Bounds of a decision; the protocol has the same.
const (
	maxReason  = 128 // bytes
	maxReasons = 32  // different ones
	maxWrites  = 16  // facts of one decision
)

func valid(_ context.Context, t *trial) {
	reasons := map[string]bool{}
	for i, a := range t.base {
		if err := validAnswer(a); err != nil {
			t.found("call %d: %v", i+1, err)
		}
		reasons[a.decision.Reason] = true
	}
	if len(reasons) > maxReasons {
		t.found("%d different reasons in %d calls; a reason is one or two words of a small closed vocabulary, for metrics", len(reasons), len(t.base))
	}
}

// sound returns what is wrong with an answer by any of the rules valid, eligible
// and distinct.
func sound(a answer) error {
	return errors.Join(validAnswer(a), eligibleAnswer(a), distinctAnswer(a))
}

func validAnswer(a answer) error {
	if a.err != nil {
		return a.err
	}
	if a.planned != nil {
		return validPlan(&a.plan)
	}
	d := a.decision
	if d.Verdict > router.Refuse {
		return fmt.Errorf("unknown verdict %d", d.Verdict)
	}
	if d.Verdict == router.Route && !slices.ContainsFunc(d.Ranking, func(p router.Placement) bool { return p.Role == router.Serve }) {
		return errors.New("it routes, but its ranking names no worker that serves; pass if there is no opinion")
	}
	for _, p := range d.Ranking {
		if p.Role > router.Decode || p.Rank < 0 {
			return fmt.Errorf("placement with role %d and rank %d", p.Role, p.Rank)
		}
	}
	if err := (&router.Plan{Guard: d.Hold.Guard}).Validate(); err != nil {
		return fmt.Errorf("hold: %w", err)
	}
	if d.Hold.TTL < 0 || d.RetryAfter < 0 {
		return fmt.Errorf("hold of %v, retry after %v: neither may be negative", d.Hold.TTL, d.RetryAfter)
	}
	if n := len(d.Reason); n > maxReason {
		return fmt.Errorf("reason of %d bytes, at most %d are allowed", n, maxReason)
	}
	if n := len(d.Writes); n > maxWrites {
		return fmt.Errorf("%d writes, at most %d are allowed", n, maxWrites)
	}
	for _, w := range d.Writes {
		if w.Family == "" || w.TTL <= 0 || len(w.Value) > router.MaxFact {
			return fmt.Errorf("write to family %q of %d bytes for %v: it needs a family, at most %d bytes and a positive time", w.Family, len(w.Value), w.TTL, router.MaxFact)
		}
	}
	return nil
}

func eligible(_ context.Context, t *trial) {
	for i, a := range t.base {
		if err := eligibleAnswer(a); err != nil {
			t.found("call %d: %v", i+1, err)
		}
	}
}

func eligibleAnswer(a answer) error {
	if a.err != nil {
		return nil // the rule valid tells
	}
	if a.planned != nil {
		return shownToPlan(a)
	}
	for _, p := range a.decision.Ranking {
		if p.Worker < 0 || p.Worker >= len(a.asked.Workers) {
			return fmt.Errorf("the ranking names worker %d of %d that it was shown", p.Worker, len(a.asked.Workers))
		}
	}
	return nil
}

func distinct(_ context.Context, t *trial) {
	for i, a := range t.base {
		if err := distinctAnswer(a); err != nil {
			t.found("call %d: %v", i+1, err)
		}
	}
}

func distinctAnswer(a answer) error {
	if a.err != nil {
		return nil
	}
	if a.planned != nil {
		return distinctPlan(&a.plan)
	}
	seen := map[router.Placement]bool{}
	for _, p := range a.decision.Ranking {
		if seen[p] {
			return fmt.Errorf("the ranking names worker %d twice", p.Worker)
		}
		seen[p] = true
	}
	return nil
}
