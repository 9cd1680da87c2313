package router

import "math/bits"

// prefixTable finds runs by their first block: a hash table with linear probing,
// at most three quarters full.
type prefixTable struct {
	places []prefixPlace
	taken  int
	shift  uint
	seed   uint64 // keeps clients from choosing blocks that meet in the table
}

// prefixPlace is free if run is 0.
type prefixPlace struct {
	hash uint32
	run  int32
}

const minPrefixWidth = 4 // of the table, in bits

func newPrefixTable(seed uint64) prefixTable {
	return prefixTable{places: make([]prefixPlace, 1<<minPrefixWidth), shift: 32 - minPrefixWidth, seed: seed}
}

// hash is the upper half of a product folded in two; its upper bits are the place
// where a search begins.
func (t *prefixTable) hash(id uint64) uint32 {
	high, low := bits.Mul64(id^t.seed, 0x9e3779b97f4a7c15)
	return uint32((high ^ low) >> 32)
}

func (t *prefixTable) mask() uint32 { return uint32(len(t.places) - 1) }

func (t *prefixTable) add(id uint64, run int32) {
	if t.taken++; 4*t.taken > 3*len(t.places) {
		old := t.places
		t.places, t.shift = make([]prefixPlace, 2*len(old)), t.shift-1
		for _, p := range old {
			if p.run != 0 {
				t.put(p)
			}
		}
	}
	t.put(prefixPlace{t.hash(id), run})
}

func (t *prefixTable) put(p prefixPlace) {
	i := p.hash >> t.shift
	for t.places[i].run != 0 {
		i = (i + 1) & t.mask()
	}
	t.places[i] = p
}

// remove takes out a run that is there, and moves up what was pushed behind it.
func (t *prefixTable) remove(id uint64, run int32) {
	gap := t.hash(id) >> t.shift
	for t.places[gap].run != run {
		gap = (gap + 1) & t.mask()
	}
	for i := (gap + 1) & t.mask(); t.places[i].run != 0; i = (i + 1) & t.mask() {
		if home := t.places[i].hash >> t.shift; (i-home)&t.mask() >= (i-gap)&t.mask() {
			t.places[gap], gap = t.places[i], i
		}
	}
	t.places[gap] = prefixPlace{}
	t.taken--
}
