package engine

import "math/bits"

// index finds the runs that hold blocks of an id: a table of places with linear
// probing. Any uint64 is an id. A run that loses an id leaves its place behind:
// a place counts only while its run has the id there (see span), and those that
// do not are left out when the table is made anew.
type index struct {
	table []place
	shift uint
	used  int
}

// place is where an id stands: it is number at of its run's. An id whose blocks
// are in several runs has a place in each.
type place struct {
	id  uint64
	run int32 // nobody where the table is empty
	at  int32
}

const minPlaces = 64

// clear forgets all and makes room for twice as many places.
func (x *index) clear(places int) {
	if length := max(minPlaces, 1<<bits.Len(uint(2*places))); length > len(x.table) {
		x.table = make([]place, length)
		x.shift = uint(64 - bits.TrailingZeros(uint(length)))
	}
	for i := range x.table {
		x.table[i].run = nobody
	}
	x.used = 0
}

// full tells whether the table is to be made anew before another place comes.
func (x *index) full() bool { return 4*x.used >= 3*len(x.table) }

func (x *index) add(p place) {
	i := x.home(p.id)
	for x.table[i].run != nobody {
		i = x.next(i)
	}
	x.table[i] = p
	x.used++
}

// home is where the search for an id begins, next where it goes on. Multiplying
// by 2^64 over the golden ratio spreads small and sequential ids as well as
// random ones.
func (x *index) home(id uint64) int { return int(id * 0x9e3779b97f4a7c15 >> x.shift) }

func (x *index) next(i int) int { return (i + 1) & (len(x.table) - 1) }
