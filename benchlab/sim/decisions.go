package sim

import (
	"cmp"
	"slices"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// decisions count requests by why they were placed. There are few reasons, so a
// search along the list is quicker than a map.
type decisions []measure.Decision

// maxReasons bounds the list: the words come from strategies.
const maxReasons = 256

func (d *decisions) count(r *router.Receipt) {
	for i := range *d {
		if x := &(*d)[i]; x.Strategy == r.Strategy && x.Reason == r.Reason && x.Fallback == r.Fallback {
			x.Count++
			return
		}
	}
	if len(*d) < maxReasons {
		*d = append(*d, measure.Decision{Strategy: r.Strategy, Reason: r.Reason, Fallback: r.Fallback, Count: 1})
		return
	}
	if len(*d) == maxReasons {
		*d = append(*d, measure.Decision{Strategy: "others", Reason: "others"})
	}
	(*d)[maxReasons].Count++
}

// sorted lists the counts in a fixed order.
func (d decisions) sorted() []measure.Decision {
	if d == nil {
		return []measure.Decision{}
	}
	slices.SortFunc(d, func(a, b measure.Decision) int {
		return cmp.Or(cmp.Compare(a.Strategy, b.Strategy), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Fallback, b.Fallback))
	})
	return d
}
