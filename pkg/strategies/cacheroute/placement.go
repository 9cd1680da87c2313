package cacheroute

import (
	"fmt"
	"math"
	"slices"

	"gatewayd/pkg/router"
)

// Placement says which keys are admitted and where they live.
type Placement struct {
	// Table maps the admitted keys, ascending, to their workers, ascending.
	Table router.Table
	// Load is the expected load of each worker in requests per second by its speed:
	// its share of the admitted keys and a share of all other traffic that is as
	// large as the worker is fast.
	Load []float64
	// Admitted and Unadmitted are the rates of the given keys that are and are
	// not in the table, in requests per second.
	Admitted, Unadmitted float64
	// Saturated are the given keys, ascending, that need more copies than there
	// are workers: if one is admitted, each worker carries more than qcap of it.
	Saturated []uint64
	slow      []float64 // 1 by the speed of each worker; nil: all are equal
}

// add changes what a worker is expected to serve, in requests per second.
func (p *Placement) add(w uint16, rate float64) {
	if p.slow != nil {
		rate *= p.slow[w]
	}
	p.Load[w] += rate
}

// Imbalance is the highest expected load over the mean.
func (p *Placement) Imbalance() float64 { return Imbalance(p.Load) }

// Imbalance is the highest load over the mean; 1 if there is no load.
func Imbalance(load []float64) float64 {
	highest, total := 0.0, 0.0
	for _, l := range load {
		highest, total = max(highest, l), total+l
	}
	if total == 0 {
		return 1
	}
	return highest * float64(len(load)) / total
}

// Homes returns the workers of a key in a table whose keys ascend, nil if it is
// not in the table.
func Homes(t *router.Table, key uint64) []uint16 {
	i, ok := slices.BinarySearch(t.Keys, key)
	if !ok {
		return nil
	}
	return t.Of(i)
}

// Preferred returns the least loaded of a key's workers, the lower number among
// equals, and fallback if the key is not in the table. The load is a live one;
// its unit does not matter.
func Preferred(t *router.Table, load []float64, key uint64, fallback int) int {
	homes := Homes(t, key)
	if len(homes) == 0 {
		return fallback
	}
	best := homes[0]
	for _, w := range homes[1:] {
		if load[w] < load[best] || load[w] == load[best] && w < best {
			best = w
		}
	}
	return int(best)
}

// copies is Eq. 1: the workers that a key needs so that each carries at most
// qcap of it. It is a float64 because it may exceed every integer.
func copies(rate, qcap float64) float64 {
	if rate <= qcap {
		return 1
	}
	return math.Ceil(rate / qcap)
}

// maxSeats bounds the workers that all keys of a table have together.
const maxSeats = 1 << 26

// positive checks a parameter that must be a finite number above 0.
func positive(name string, v float64) error {
	if v > 0 && !math.IsInf(v, 0) {
		return nil
	}
	return fmt.Errorf("%s is %v, but must be a finite number above 0", name, v)
}

// workers checks a number of workers.
func workers(n int) error {
	if n >= 1 && n <= router.MaxPlanWorkers {
		return nil
	}
	return fmt.Errorf("%d workers: a placement is over 1 to %d", n, router.MaxPlanWorkers)
}
