package estimator

import (
	"math"
	"slices"
	"sort"
)

// candidate is a row that may be the one of the least weight. Weights only grow
// (but for scale), so one that was noted earlier is a bound: whichever candidate
// is the least, and still weighs what was noted, is the least of all.
type candidate struct {
	weight float64
	hash   uint64 // of the key
}

// before orders candidates by weight, the lower hash first among equals.
func (c candidate) before(o candidate) bool {
	return c.weight < o.weight || c.weight == o.weight && c.hash < o.hash
}

// candidates are the least rows of a part, in decreasing order. They are chosen
// when one is wanted and there is none; all other rows of the part come after the
// bound.
type candidates struct {
	list  []candidate
	bound candidate
}

// mostCandidates bounds the candidates of a part. Up to it they are a sixteenth of
// its rows, so that choosing costs little for each of them.
const mostCandidates = 256

// dropLeast takes out the row of the least weight, the one of the lower hash among
// equals, and returns its weight. The table must not be empty.
func (t *table) dropLeast() float64 {
	for {
		at := t.leastPart()
		p := &t.parts[at]
		if len(p.list) == 0 {
			p.choose()
		}
		last := len(p.list) - 1
		noted := p.list[last]
		now := candidate{p.rows[p.search(noted.hash)].weight(), noted.hash}
		switch {
		case noted != t.heads[at]: // just chosen
		case noted == now:
			t.remove(noted.hash)
			return noted.weight
		default:
			p.list = p.list[:last]
			p.offer(now)
		}
		t.heads[at] = p.head()
	}
}

// leastPart returns the number of the part whose head is the least.
func (t *table) leastPart() int {
	least := 0
	for i := range t.heads {
		if t.heads[i].before(t.heads[least]) {
			least = i
		}
	}
	return least
}

// head is the least candidate of a part: before all others if candidates have to
// be chosen first, behind them if there is no row.
func (p *part) head() candidate {
	switch {
	case len(p.list) > 0:
		return p.list[len(p.list)-1]
	case p.used > 0:
		return candidate{weight: -1}
	}
	return candidate{weight: math.Inf(1)}
}

// choose makes candidates of the least rows. Rows are in order of their hashes, so
// of equal ones the first come first.
func (p *part) choose() {
	most := p.most()
	p.list = slices.Grow(p.list[:0], most)
	for i := range p.rows {
		w := &p.rows[i]
		weight := w.weight()
		if len(p.list) == most && weight >= p.list[0].weight || w.vacant() {
			continue
		}
		p.insert(candidate{weight, w.hash()}, most)
	}
	p.bound = p.list[0]
}

func (p *part) most() int { return min(p.used/16+8, mostCandidates) }

// offer makes a candidate of a row that is not one, unless it comes after the bound.
func (p *part) offer(c candidate) {
	if c.before(p.bound) && p.insert(c, p.most()) {
		p.bound = p.list[0]
	}
}

// insert brings a candidate to its place in the list. It reports whether one fell
// out, the last in order, for there were as many as may be.
func (c *candidates) insert(it candidate, most int) (full bool) {
	at := sort.Search(len(c.list), func(i int) bool { return c.list[i].before(it) })
	if len(c.list) < most {
		c.list = slices.Insert(c.list, at, it)
		return false
	}
	if at > 0 {
		copy(c.list, c.list[1:at])
		c.list[at-1] = it
	}
	return true
}

// forget takes a row out of the candidates.
func (c *candidates) forget(hash uint64) {
	for i := len(c.list) - 1; i >= 0; i-- {
		if c.list[i].hash == hash {
			c.list = slices.Delete(c.list, i, i+1)
			return
		}
	}
}
