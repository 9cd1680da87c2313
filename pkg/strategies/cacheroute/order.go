package cacheroute

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
)

const (
	digit  = 11 // bits per pass: 2,048 counters fit the first-level cache
	passes = 2  // so there are four million cells, which are sorted into by radix
	short  = 32 // a run that is sorted by insertion
)

// ranked is a positive rate and its position in a list of rates. The bits are
// those of the rate, inverted, so that the higher rate has the smaller ones: the
// bits of positive floats are ordered like the floats.
type ranked struct {
	bits     uint64
	position int32
}

func newRanked(rate float64, position int) ranked {
	return ranked{^math.Float64bits(rate), int32(position)}
}

func (r ranked) rate() float64 { return math.Float64frombits(^r.bits) }

// filter is the keys of a zone.
type filter struct {
	zones []zone // of each rate
	zone  zone
}

// byRate returns the positive rates that a filter lets pass, all of them if it is
// nil, in decreasing order; equal rates keep their order.
func byRate(rates []router.KeyRate, only *filter) []ranked {
	items := make([]ranked, 0, len(rates))
	for i := range rates {
		if rate := rates[i].Rate; rate > 0 && (only == nil || only.zones[i] == only.zone) {
			items = append(items, newRanked(rate, i))
		}
	}
	return decreasing(items)
}

// decreasing sorts rates by decreasing size; equal ones keep their order. It sorts
// by radix into cells, equal parts of the range that their bits span, since
// comparing would cost more than all the rest of a plan, and then what is left
// within cells. It returns items or a list of its own.
func decreasing(items []ranked) []ranked {
	least, most := uint64(math.MaxUint64), uint64(0)
	for i := range items {
		least, most = min(least, items[i].bits), max(most, items[i].bits)
	}
	if least >= most {
		return items // none, or all are equal
	}
	shift := max(0, bits.Len64(most-least)-passes*digit)
	var counts [passes][1 << digit]int32
	for i := range items {
		cell := (items[i].bits - least) >> shift
		counts[0][cell&(1<<digit-1)]++
		counts[1][cell>>digit]++
	}
	spare := make([]ranked, len(items))
	for p := range passes {
		count, shift := &counts[p], shift+p*digit
		next := int32(0)
		for d, n := range count {
			count[d], next = next, next+n
		}
		for i := range items {
			place := &count[(items[i].bits-least)>>shift&(1<<digit-1)]
			spare[*place] = items[i]
			*place++
		}
		items, spare = spare, items
	}
	for i := 1; i < len(items); i++ {
		if items[i].bits >= items[i-1].bits {
			continue
		}
		cell, from := (items[i].bits-least)>>shift, i-1
		for from > 0 && (items[from-1].bits-least)>>shift == cell {
			from--
		}
		for i < len(items) && (items[i].bits-least)>>shift == cell {
			i++
		}
		sortRun(items[from:i])
	}
	return items
}

// sortRun sorts the rates of a cell; equal ones keep their order.
func sortRun(run []ranked) {
	if len(run) > short {
		slices.SortStableFunc(run, func(a, b ranked) int { return cmp.Compare(a.bits, b.bits) })
		return
	}
	for i := 1; i < len(run); i++ {
		it, j := run[i], i
		for ; j > 0 && run[j-1].bits > it.bits; j-- {
			run[j] = run[j-1]
		}
		run[j] = it
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
