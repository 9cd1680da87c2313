package estimator

import "math"

// ranking is a set of keys by weight: an eight-ary heap, the least weight at
// place 0 and the lower key first among equals, with an index of the keys. Its
// rows lie in pages, so that it grows without much copying and waste. A key takes
// 28 bytes of row and 5 to 10 of index.
type ranking struct {
	pages [][]row
	n     int
	index index
}

// row is what is known of a key. Its words are halves, so that no bytes are lost
// to alignment.
type row struct {
	keyLow, keyHigh       uint32
	weightLow, weightHigh uint32
	lost                  float32 // part of the weight that the key got when it came in
	tokens                float32 // mean prompt tokens
	mark                  uint32
}

const (
	pageBits = 14 // rows to a page
	pageMask = 1<<pageBits - 1
	children = 8
	maxRows  = 1 << placeBits
)

func newRow(key uint64, weight float64, lost, tokens float32) row {
	w := row{keyLow: uint32(key), keyHigh: uint32(key >> 32), lost: lost, tokens: tokens}
	w.setWeight(weight)
	return w
}

func (w *row) key() uint64 { return uint64(w.keyHigh)<<32 | uint64(w.keyLow) }

func (w *row) weight() float64 {
	return math.Float64frombits(uint64(w.weightHigh)<<32 | uint64(w.weightLow))
}

func (w *row) setWeight(v float64) {
	bits := math.Float64bits(v)
	w.weightLow, w.weightHigh = uint32(bits), uint32(bits>>32)
}

func (w *row) before(o *row) bool {
	a, b := w.weight(), o.weight()
	return a < b || a == b && w.key() < o.key()
}

func (r *ranking) row(i int) *row { return &r.pages[i>>pageBits][i&pageMask] }

// find returns the place of a key, -1 if it is not there.
func (r *ranking) find(key uint64) int { return r.index.find(r, key) }

// add puts in a key that is not there.
func (r *ranking) add(w row) {
	p := r.n >> pageBits
	if p == len(r.pages) {
		r.pages = append(r.pages, nil)
	}
	page := r.pages[p]
	if len(page) == cap(page) {
		page = append(make([]row, 0, cap(page)+max(16, cap(page)/16)), page...)
	}
	r.pages[p] = append(page, w)
	r.n++
	r.index.add(r, w.key(), r.n-1)
	r.up(r.n - 1)
}

// replaceLeast puts in a key that is not there in place of the one of the least
// weight.
func (r *ranking) replaceLeast(w row) {
	r.index.remove(r, r.row(0).key(), 0)
	*r.row(0) = w
	r.index.add(r, w.key(), 0)
	r.down(0)
}

// remove takes out the row at a place.
func (r *ranking) remove(i int) {
	r.index.remove(r, r.row(i).key(), i)
	r.n--
	last, p := r.n, r.n>>pageBits
	if i != last {
		r.relocate(last, i)
	}
	if r.pages[p] = r.pages[p][:last&pageMask]; p > 0 && last&pageMask == 0 {
		r.pages[p], r.pages = nil, r.pages[:p]
	}
	if i != last {
		r.up(i)
		r.down(i)
	}
}

// relocate overwrites the row at a place with another one.
func (r *ranking) relocate(from, to int) {
	w := r.row(to)
	*w = *r.row(from)
	r.index.slot(w.key(), from).move(to)
}

// up moves a row whose weight may be too low for its place.
func (r *ranking) up(i int) {
	if i == 0 || !r.row(i).before(r.row((i-1)/children)) {
		return
	}
	w := *r.row(i)
	slot := r.index.slot(w.key(), i)
	for i > 0 && w.before(r.row((i-1)/children)) {
		r.relocate((i-1)/children, i)
		i = (i - 1) / children
	}
	*r.row(i) = w
	slot.move(i)
}

// down moves a row whose weight may be too high for its place.
func (r *ranking) down(i int) {
	child := r.leastChild(i)
	if child < 0 || !r.row(child).before(r.row(i)) {
		return
	}
	w := *r.row(i)
	slot := r.index.slot(w.key(), i)
	for child >= 0 && r.row(child).before(&w) {
		r.relocate(child, i)
		i, child = child, r.leastChild(child)
	}
	*r.row(i) = w
	slot.move(i)
}

// leastChild returns the place of the least row below one, -1 if there is none.
func (r *ranking) leastChild(i int) int {
	first := children*i + 1
	if first >= r.n {
		return -1
	}
	child, least := first, r.row(first)
	for c := first + 1; c < min(first+children, r.n); c++ {
		if o := r.row(c); o.before(least) {
			child, least = c, o
		}
	}
	return child
}

// scale multiplies all weights by a power of two, which is exact.
func (r *ranking) scale(factor float64) {
	for _, page := range r.pages {
		for i := range page {
			page[i].setWeight(page[i].weight() * factor)
			page[i].lost *= float32(factor)
		}
	}
}
