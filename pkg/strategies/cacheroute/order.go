package cacheroute

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
)

const (
	digit  = 11           // bits per pass: 2,048 counters fit the first-level cache
	passes = 3            // of the bits below the sign: exponent and 22 of the mantissa
	lowest = 63 - 3*digit // the bits below it are looked at only to tell equals apart
	short  = 32           // a run that is sorted by insertion
)

// ranked is a positive rate and its position in a list of rates. The bits are
// those of the rate, inverted, so that the higher rate has the smaller ones.
type ranked struct {
	bits     uint64
	position int32
}

func (r ranked) rate() float64 { return math.Float64frombits(^r.bits) }

// byRate returns the positive rates in decreasing order; equal rates keep their
// order. It sorts by radix, since comparing would cost more
// than all the rest of a plan: the bits of positive floats are ordered like the
// floats. Rates that differ by less than a four-millionth are left to a last look.
func byRate(rates []router.KeyRate) []ranked {
	items := make([]ranked, 0, len(rates))
	var counts [passes][1 << digit]int32
	for i := range rates {
		if rate := rates[i].Rate; rate > 0 {
			it := ranked{^math.Float64bits(rate), int32(i)}
			items = append(items, it)
			for p := range passes {
				counts[p][it.digit(p)]++
			}
		}
	}
	spare := make([]ranked, len(items))
	for p := range passes {
		count := &counts[p]
		if len(items) > 0 && int(count[items[0].digit(p)]) == len(items) {
			continue // the digit is the same everywhere
		}
		next := int32(0)
		for d, n := range count {
			count[d], next = next, next+n
		}
		for _, it := range items {
			d := it.digit(p)
			spare[count[d]] = it
			count[d]++
		}
		items, spare = spare, items
	}
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].bits>>lowest == items[from].bits>>lowest {
			to++
		}
		if to-from > 1 {
			sortRun(items[from:to])
		}
		from = to
	}
	return items
}

func (r ranked) digit(pass int) uint64 { return r.bits >> (lowest + pass*digit) & (1<<digit - 1) }

// sortRun sorts rates that are nearly equal; equal ones keep their order.
func sortRun(run []ranked) {
	compare := func(a, b ranked) int { return cmp.Compare(a.bits, b.bits) }
	switch {
	case slices.IsSortedFunc(run, compare):
	case len(run) > short:
		slices.SortStableFunc(run, compare)
	default:
		for i := 1; i < len(run); i++ {
			it, j := run[i], i
			for ; j > 0 && run[j-1].bits > it.bits; j-- {
				run[j] = run[j-1]
			}
			run[j] = it
		}
	}
}

// byKey returns the positions of rates in ascending order of their keys, nil if
// they are in that order already. A key that occurs twice is an error.
func byKey(rates []router.KeyRate) ([]int32, error) {
	if planner.Ascending(rates) == nil {
		return nil, nil
	}
	order := make([]int32, len(rates))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(rates[a].Key, rates[b].Key) })
	for i := 1; i < len(order); i++ {
		if rates[order[i]].Key == rates[order[i-1]].Key {
			return nil, fmt.Errorf("key %d has two rates", rates[order[i]].Key)
		}
	}
	return order, nil
}
