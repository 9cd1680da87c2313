package planner

import (
	"fmt"

	"gatewayd/pkg/router"
)

// Most is the largest figure that is taken for real: sums of any number of them
// that fit into memory stay finite.
const Most = 1e15

// Rates checks rates from outside: not negative, not NaN, of a credible size.
func Rates(rates []router.KeyRate) error {
	for _, r := range rates {
		if !figure(r.Rate) {
			return fmt.Errorf("key %d: rate %v is not a number of requests per second between 0 and %v", r.Key, r.Rate, float64(Most))
		}
		if !figure(r.Tokens) {
			return fmt.Errorf("key %d: %v prompt tokens is not a number between 0 and %v", r.Key, r.Tokens, float64(Most))
		}
	}
	return nil
}

// Ascending checks that rates are ordered by key and that no key occurs twice.
func Ascending(rates []router.KeyRate) error {
	for i := 1; i < len(rates); i++ {
		if rates[i].Key <= rates[i-1].Key {
			return fmt.Errorf("key %d comes after key %d: rates must be in ascending order of their keys, each key once", rates[i].Key, rates[i-1].Key)
		}
	}
	return nil
}

// Table checks that a table is well formed and refers to n workers.
func Table(t *router.Table, n int) error {
	if len(t.Keys) == 0 {
		return nil
	}
	if len(t.Offsets) != len(t.Keys)+1 || t.Offsets[0] != 0 || int(t.Offsets[len(t.Keys)]) != len(t.Members) {
		return fmt.Errorf("table of %d keys with %d offsets and %d members does not fit together", len(t.Keys), len(t.Offsets), len(t.Members))
	}
	for i, key := range t.Keys {
		if t.Offsets[i] > t.Offsets[i+1] {
			return fmt.Errorf("table: the offsets of key %d descend", key)
		}
		if i > 0 && key <= t.Keys[i-1] {
			return fmt.Errorf("table: key %d comes after key %d, not in ascending order", key, t.Keys[i-1])
		}
	}
	for _, m := range t.Members {
		if int(m) >= n {
			return fmt.Errorf("table refers to worker %d of %d", m, n)
		}
	}
	return nil
}

func check(in router.PlanInput) error {
	if len(in.Fleet.Workers) > router.MaxPlanWorkers {
		return fmt.Errorf("fleet of %d workers: a plan holds at most %d", len(in.Fleet.Workers), router.MaxPlanWorkers)
	}
	for i, w := range in.Fleet.Workers {
		if w.ID == "" {
			return fmt.Errorf("worker %d of the fleet has no id", i)
		}
		if i > 0 && w.ID <= in.Fleet.Workers[i-1].ID {
			return fmt.Errorf("worker %q comes after %q: the fleet must be ordered by id, each id once", w.ID, in.Fleet.Workers[i-1].ID)
		}
		if err := worker(w); err != nil {
			return fmt.Errorf("worker %q: %w", w.ID, err)
		}
	}
	if len(in.Rates) > router.MaxPlanKeys {
		return fmt.Errorf("%d rates: a plan holds at most %d keys", len(in.Rates), router.MaxPlanKeys)
	}
	if !figure(in.TotalRate) || !figure(in.OutputTokens) || !figure(in.PromptTokens) {
		return fmt.Errorf("total rate %v, mean output %v and mean prompt %v must be numbers of at least 0", in.TotalRate, in.OutputTokens, in.PromptTokens)
	}
	if err := Rates(in.Rates); err != nil {
		return err
	}
	if err := Ascending(in.Rates); err != nil {
		return err
	}
	for _, r := range in.Rates {
		if r.Home < 0 || r.Home > len(in.Fleet.Workers) {
			return fmt.Errorf("key %d: home %d is not the place of one of %d workers", r.Key, r.Home, len(in.Fleet.Workers))
		}
	}
	if in.Previous == nil {
		return nil
	}
	if err := Table(&in.Previous.Table, len(in.Previous.Workers)); err != nil {
		return fmt.Errorf("previous plan: %w", err)
	}
	return nil
}

func worker(w router.Worker) error {
	if w.Concurrency < 0 || !figure(float64(w.KVTokens)) {
		return fmt.Errorf("concurrency %d and kv cache of %d tokens must be between 0 (unknown) and %v", w.Concurrency, w.KVTokens, float64(Most))
	}
	e := w.Energy
	for _, v := range []float64{e.PrefillJoules, e.DecodeJoules, e.SharedJoules, e.WakeWatts, e.PUE} {
		if !figure(v) {
			return fmt.Errorf("energy figure %v must be a number of at least 0 (0 = unknown)", v)
		}
	}
	for _, g := range []router.Gauge{w.Carbon.GramsPerKWh, w.Load.Latency, w.Load.TTFT, w.Load.KVUsed} {
		if g.Known() && !figure(g.Value) {
			return fmt.Errorf("observed figure %v must be a number of at least 0", g.Value)
		}
	}
	return nil
}

// figure reports whether v is a number between 0 and Most; NaN is not.
func figure(v float64) bool { return v >= 0 && v <= Most }
