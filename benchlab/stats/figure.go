package stats

import (
	"cmp"
	"math"
	"slices"
)

// Run is one run in the form that is resampled. Make it with NewRun.
type Run struct {
	columns int
	sums    []float32 // of each cluster, columns values
	figures []figure
}

// figure is a ratio of two column sums, a percentile if order is set, or
// undefined if neither.
type figure struct {
	num, den int
	scale    float64 // 0 of a figure that is no ratio
	share    float64 // of the percentile, 0.99
	order    Order
}

// Order is a sample in ascending order, each value with its cluster. It may serve
// several percentiles.
type Order []place

type place struct {
	value   float32
	cluster int32
}

// NewOrder sorts values, which come with their clusters.
func NewOrder(values []float64, clusters []int32) Order {
	o := make(Order, len(values))
	for i, v := range values {
		o[i] = place{float32(v), clusters[i]}
	}
	slices.SortFunc(o, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.cluster, b.cluster))
	})
	return o
}

// Append appends the values, ascending.
func (o Order) Append(values []float32) []float32 {
	for _, p := range o {
		values = append(values, p.value)
	}
	return values
}

// NewRun returns a run without figures, whose requests belong to clusters, all of
// them below n. It sums up, by cluster, what row says of each request in so many
// columns; row is called once for each, with zeros. What is kept has single
// precision: draws say how far figures move, not what they are.
func NewRun(n int, clusters []int32, columns int, row func(request int, into []float64)) *Run {
	r := &Run{columns: columns, sums: make([]float32, n*columns)}
	values := make([]float64, columns)
	for i, k := range clusters {
		clear(values)
		row(i, values)
		sums := r.sums[int(k)*columns:][:columns]
		for j, v := range values {
			sums[j] += float32(v)
		}
	}
	return r
}

// Ratio adds the figure scale * sum of column num / sum of column den.
func (r *Run) Ratio(num, den int, scale float64) {
	r.figures = append(r.figures, figure{num: num, den: den, scale: scale})
}

// Undefined adds a figure that this run does not have.
func (r *Run) Undefined() { r.figures = append(r.figures, figure{}) }

// Percentile adds a percentile of a sample by nearest rank: the least value that
// at least share of the requests do not exceed. Requests in column den without a
// value, which are those not in column num, count as infinite. Both columns count
// each of their requests once.
func (r *Run) Percentile(o Order, num, den int, share float64) {
	r.figures = append(r.figures, figure{num: num, den: den, share: share, order: o})
}

// under computes the figures, in the order in which they were added, with each
// cluster counted w times; all once if w is nil. Undefined and infinite figures
// are NaN. The buffer has a value for each column.
func (r *Run) under(w []uint16, buffer, into []float64) {
	totals := buffer[:r.columns]
	clear(totals)
	for k := 0; k*r.columns < len(r.sums); k++ {
		times := 1.0
		if w != nil {
			if w[k] == 0 {
				continue
			}
			times = float64(w[k])
		}
		for j, v := range r.sums[k*r.columns:][:r.columns] {
			totals[j] += times * float64(v)
		}
	}
	for i := range r.figures {
		into[i] = r.figures[i].of(totals, w)
	}
}

func (f *figure) of(totals []float64, w []uint16) float64 {
	total := totals[f.den]
	switch {
	case total <= 0:
		return math.NaN()
	case f.scale != 0:
		return f.scale * totals[f.num] / total
	case f.share < middle:
		return f.fromBelow(total, w)
	default:
		return f.fromAbove(total, totals[f.num], w)
	}
}

// middle is where a percentile is sooner found from above.
const middle = 0.6

// rank is the place of the percentile among total values; the small number
// forgives the rounding of the product.
func (f *figure) rank(total float64) float64 { return math.Ceil(total*f.share - 1e-9) }

func (f *figure) fromBelow(total float64, w []uint16) float64 {
	rank, sum := f.rank(total), 0.0
	for _, p := range f.order {
		if sum += weight(w, p.cluster); sum >= rank {
			return float64(p.value)
		}
	}
	return math.NaN()
}

// fromAbove starts with the finite values: those above them are infinite.
func (f *figure) fromAbove(total, finite float64, w []uint16) float64 {
	rank, sum := f.rank(total), finite
	if sum < rank {
		return math.NaN()
	}
	for i := len(f.order) - 1; i >= 0; i-- {
		if sum -= weight(w, f.order[i].cluster); sum < rank {
			return float64(f.order[i].value)
		}
	}
	return math.NaN()
}

func weight(w []uint16, cluster int32) float64 {
	if w == nil {
		return 1
	}
	return float64(w[cluster])
}
