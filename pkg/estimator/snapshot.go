package estimator

import (
	"cmp"
	"math/bits"
	"slices"
)

// Snapshot returns the rates at now, ordered by key. Keys whose rate fell under
// floor requests per second are left out.
func (r *Rates) Snapshot(now int64, floor float64) []Rate { return r.Freeze().At(now, floor) }

// byKey returns the rates ordered by key. It deals them by their keys' upper bits
// into about as many bins as there are rates, so that hashes are nearly in order
// before they are sorted bin by bin; other keys only gain nothing.
func byKey(rates []Rate) []Rate {
	width := bits.Len(uint(len(rates)))
	ends := make([]int32, 1<<width+1)
	for i := range rates {
		ends[rates[i].Key>>(64-width)+1]++
	}
	for i := range ends[1:] {
		ends[i+1] += ends[i]
	}
	out := make([]Rate, len(rates))
	for i := range rates {
		end := &ends[rates[i].Key>>(64-width)] // the bin's beginning, until it is full
		out[*end] = rates[i]
		*end++
	}
	begin := int32(0)
	for _, end := range ends {
		if end > begin+1 {
			slices.SortFunc(out[begin:end], func(a, b Rate) int { return cmp.Compare(a.Key, b.Key) })
		}
		begin = end
	}
	return out
}

// Frozen is a copy of the estimate at one moment, safe to use elsewhere.
type Frozen struct {
	clock
	rows []row // some are free
	n    int   // that are not
}

// Freeze copies the estimate in block copies, without sorting or decaying.
func (r *Rates) Freeze() *Frozen {
	size := 0
	for i := range r.parts {
		size += len(r.parts[i].rows)
	}
	f := &Frozen{r.clock, make([]row, 0, size), r.n}
	for i := range r.parts {
		f.rows = append(f.rows, r.parts[i].rows...)
	}
	return f
}

// At returns the frozen rates as of now, ordered by key, as Rates.Snapshot does.
func (f *Frozen) At(now int64, floor float64) []Rate {
	perSecond := f.over(now) * f.perSecond()
	out := make([]Rate, 0, f.n)
	for i := range f.rows {
		w := &f.rows[i]
		if w.vacant() {
			continue
		}
		if rate := w.seen() * perSecond; rate >= floor && rate > 0 {
			out = append(out, Rate{Key: w.key(), PerSecond: rate, Tokens: float64(w.tokens), Mark: w.mark})
		}
	}
	return byKey(out)
}
