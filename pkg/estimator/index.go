package estimator

// index finds the place of a key in a ranking: open addressing with linear
// probing over 4-byte slots, filled to at most seven eighths. It is in parts, each
// of which grows by itself, so that no record pays for rehashing more than a
// small part.
type index struct{ parts [1 << partBits]part }

type part struct {
	slots []slot
	used  int
}

// slot is 0 if it is free, else a tag of the key's hash, not 0, above the place.
// A slot of another key nearly always tells by its tag.
type slot uint32

const (
	partBits  = 6
	placeBits = 20
	tagShift  = 64 - partBits - (32 - placeBits) // of the bits below the part's
)

func newSlot(hash uint64, at int) slot { return tag(hash) | slot(at) }

func tag(hash uint64) slot {
	t := slot(hash>>tagShift) << placeBits
	if t == 0 {
		t = 1 << placeBits
	}
	return t
}

func (s slot) at() int { return int(s & (1<<placeBits - 1)) }

// move changes the place that a slot names.
func (s *slot) move(to int) { *s = *s&^(1<<placeBits-1) | slot(to) }

// scramble is the finalizer of splitmix64.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (x *index) part(hash uint64) *part { return &x.parts[hash>>(64-partBits)] }

// find returns the place of a key, -1 if it is not there.
func (x *index) find(r *ranking, key uint64) int {
	hash := scramble(key)
	p := x.part(hash)
	if len(p.slots) == 0 {
		return -1
	}
	mask, want := uint64(len(p.slots)-1), tag(hash)
	for i := hash & mask; p.slots[i&mask] != 0; i++ {
		if s := p.slots[i&mask]; s^want < 1<<placeBits && r.row(s.at()).key() == key {
			return s.at()
		}
	}
	return -1
}

// add enters a key that is not there yet.
func (x *index) add(r *ranking, key uint64, at int) {
	hash := scramble(key)
	p := x.part(hash)
	if p.used*8 >= len(p.slots)*7 {
		p.grow(r)
	}
	p.used++
	p.put(hash, newSlot(hash, at))
}

func (p *part) put(hash uint64, s slot) {
	mask := uint64(len(p.slots) - 1)
	i := hash & mask
	for p.slots[i] != 0 {
		i = (i + 1) & mask
	}
	p.slots[i] = s
}

func (p *part) grow(r *ranking) {
	old := p.slots
	p.slots = make([]slot, max(8, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			p.put(scramble(r.row(s.at()).key()), s)
		}
	}
}

// slot returns the slot of a key whose place is known. It is good until a key
// comes or goes.
func (x *index) slot(key uint64, at int) *slot {
	hash := scramble(key)
	p := x.part(hash)
	return &p.slots[p.find(hash, at)]
}

func (p *part) find(hash uint64, at int) uint64 {
	mask, want := uint64(len(p.slots)-1), newSlot(hash, at)
	i := hash & mask
	for p.slots[i] != want {
		i = (i + 1) & mask
	}
	return i
}

// remove takes out a key whose place is known, and closes the gap: slots behind
// it that were pushed past it by others move up.
func (x *index) remove(r *ranking, key uint64, at int) {
	hash := scramble(key)
	p := x.part(hash)
	mask := uint64(len(p.slots) - 1)
	gap := p.find(hash, at)
	for i := (gap + 1) & mask; p.slots[i] != 0; i = (i + 1) & mask {
		home := scramble(r.row(p.slots[i].at()).key()) & mask
		if (i-home)&mask >= (i-gap)&mask {
			p.slots[gap], gap = p.slots[i], i
		}
	}
	p.slots[gap] = 0
	p.used--
}
