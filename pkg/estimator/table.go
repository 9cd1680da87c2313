package estimator

import (
	"math"
	"math/bits"
)

// table finds the row of a key in about one visit to memory: open addressing of
// the rows themselves. A key's row is where its hash lies in the range of all
// hashes or, if others are there, behind those of lower hashes; so a search ends at
// the first hash that is not lower, whether the key is there or not. The table is
// in parts, each of which grows by itself and by an eighth, so that no record pays
// for moving more than a small part and little is idle: a key takes 32 to 38 bytes.
type table struct {
	parts [1 << partBits]part
	heads [1 << partBits]candidate // of the parts, what is known of their least rows
	n     int
}

type part struct {
	rows  []row  // the last is free
	homes uint64 // places that a hash can point to; further ones take what is pushed
	used  int
	candidates
}

// row is what is known of a key. Its words are halves, so that no bytes are lost
// to alignment.
type row struct {
	hashLow, hashHigh     uint32 // of scramble(key), which is as good as the key
	weightLow, weightHigh uint32
	lost                  float32 // part of the weight that the key got when it came in
	tokens                float32 // mean prompt tokens
	mark                  uint32
}

func (t *table) init() {
	for i := range t.heads {
		t.heads[i] = t.parts[i].head()
	}
}

const (
	partBits = 6
	maxRows  = 1 << 20
	infinite = 0x7ff00000 // upper half of an infinite weight: the row is free
)

func newRow(key uint64, weight float64, lost, tokens float32) row {
	hash := scramble(key)
	w := row{hashLow: uint32(hash), hashHigh: uint32(hash >> 32), lost: lost, tokens: tokens}
	w.setWeight(weight)
	return w
}

// vacant is a free row. Its hash is the highest, so that searches end.
var vacant = row{hashLow: math.MaxUint32, hashHigh: math.MaxUint32, weightHigh: infinite}

func (w *row) vacant() bool { return w.weightHigh == infinite }

func (w *row) hash() uint64 { return uint64(w.hashHigh)<<32 | uint64(w.hashLow) }

func (w *row) key() uint64 { return unscramble(w.hash()) }

func (w *row) weight() float64 {
	return math.Float64frombits(uint64(w.weightHigh)<<32 | uint64(w.weightLow))
}

func (w *row) setWeight(v float64) {
	bits := math.Float64bits(v)
	w.weightLow, w.weightHigh = uint32(bits), uint32(bits>>32)
}

func (p *part) home(hash uint64) int {
	i, _ := bits.Mul64(hash<<partBits, p.homes)
	return int(i)
}

// search returns the place in a part of a hash, or where it belongs.
func (p *part) search(hash uint64) int {
	i := p.home(hash)
	for i < len(p.rows) && p.rows[i].hash() < hash {
		i++
	}
	return i
}

// find returns the row of a key, nil if it is not there. It is good until a key
// comes or goes.
func (t *table) find(key uint64) *row {
	hash := scramble(key)
	p := &t.parts[hash>>(64-partBits)]
	if i := p.search(hash); i < len(p.rows) {
		if w := &p.rows[i]; w.hash() == hash && !w.vacant() {
			return w
		}
	}
	return nil
}

// add puts in a key that is not there.
func (t *table) add(w row) {
	at := w.hash() >> (64 - partBits)
	p := &t.parts[at]
	if uint64(p.used)*8 >= p.homes*7 {
		p.lay(p.homes + p.homes/8 + 8)
	}
	p.put(w)
	p.used++
	t.n++
	p.offer(candidate{w.weight(), w.hash()})
	t.heads[at] = p.head()
}

// put inserts a row in order.
func (p *part) put(w row) {
	i := p.search(w.hash())
	end := i
	for !p.rows[end].vacant() {
		end++
	}
	if end == len(p.rows)-1 {
		p.lay(p.homes)
	}
	copy(p.rows[i+1:end+1], p.rows[i:end])
	p.rows[i] = w
}

// lay spreads the rows over a number of homes, with free rows behind the last.
func (p *part) lay(homes uint64) {
	old, end := p.rows, 0
	p.homes = homes
	for i := range old {
		if !old[i].vacant() {
			end = max(end, p.home(old[i].hash())) + 1
		}
	}
	p.rows = make([]row, max(end, int(homes))+int(homes/64)+8)
	end = 0
	for i := range old {
		if old[i].vacant() {
			continue
		}
		for at := max(end, p.home(old[i].hash())); end < at; end++ {
			p.rows[end] = vacant
		}
		p.rows[end] = old[i]
		end++
	}
	for ; end < len(p.rows); end++ {
		p.rows[end] = vacant
	}
}

// remove takes out the row of a hash, and closes the gap: rows behind it that were
// pushed by others move up.
func (t *table) remove(hash uint64) {
	at := hash >> (64 - partBits)
	p := &t.parts[at]
	i := p.search(hash) + 1
	for ; !p.rows[i].vacant() && p.home(p.rows[i].hash()) < i; i++ {
		p.rows[i-1] = p.rows[i]
	}
	p.rows[i-1] = vacant
	p.used--
	t.n--
	p.forget(hash)
	t.heads[at] = p.head()
}

// scale multiplies all weights by a power of two, which is exact.
func (t *table) scale(factor float64) {
	for i := range t.parts {
		p := &t.parts[i]
		for j := range p.rows {
			if w := &p.rows[j]; !w.vacant() {
				w.setWeight(w.weight() * factor)
				w.lost *= float32(factor)
			}
		}
		p.candidates = candidates{list: p.list[:0]}
		t.heads[i] = p.head()
	}
}
