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
	digit  = 11 // bits per pass: 2,048 counters fit the first-level cache
	passes = 6  // of 11 bits cover 64
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
// floats.
func byRate(rates []router.KeyRate) []ranked {
	items := make([]ranked, 0, len(rates))
	var counts [passes][1 << digit]int32
	for i, r := range rates {
		if r.Rate > 0 {
			it := ranked{^math.Float64bits(r.Rate), int32(i)}
			items = append(items, it)
			for p := range passes {
				counts[p][it.bits>>(p*digit)&(1<<digit-1)]++
			}
		}
	}
	spare := make([]ranked, len(items))
	for p := range passes {
		count := &counts[p]
		if len(items) > 0 && int(count[items[0].bits>>(p*digit)&(1<<digit-1)]) == len(items) {
			continue // the digit is the same everywhere
		}
		next := int32(0)
		for d, n := range count {
			count[d], next = next, next+n
		}
		for _, it := range items {
			d := it.bits >> (p * digit) & (1<<digit - 1)
			spare[count[d]] = it
			count[d]++
		}
		items, spare = spare, items
	}
	return items
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
