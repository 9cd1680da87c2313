package router

import (
	"math"
	"math/bits"
)

// table finds the workers of a key in one visit to memory: 16-byte slots with up
// to three workers in the slot itself, ordered by the hash of their keys. A key's
// slot is where its hash lies in the range of all hashes, or, if others are there,
// behind those of lower hashes. So a search ends at the first hash that is not
// lower, whether the key is there or not.
type table struct {
	slots []slot
	homes uint64 // places that a hash can point to; further slots take what is pushed
	from  *Table
}

// slot is free if n is 0; its hash is then the highest, so that searches end.
type slot struct {
	hash    uint64 // Mix of the key, which is as good as the key: Mix is a bijection
	members [inline]uint16
	n       uint16
}

func vacant() slot { return slot{hash: math.MaxUint64} }

const (
	inline = 3
	// many says that the workers do not fit; two words of members are then the
	// number of the key in the plan's table.
	many = 1<<16 - 1
	// A table is filled to 13/20: 25 bytes to a key, and short ways.
	fillOf, fill = 20, 13
)

func newTable(from *Table) table {
	n := len(from.Keys)
	t := table{homes: uint64(n)*fillOf/fill + 1, from: from}
	t.slots = make([]slot, t.homes+8)
	for i := range t.slots {
		t.slots[i] = vacant()
	}
	for _, s := range byHash(from) {
		t.put(s)
	}
	return t
}

// parts is how many parts of the table, as a power of two, are filled one after
// the other: each fits into a core's own cache.
const parts = 8

// byHash returns the slots of a table's rows by the part that they go to, and in
// the order of the rows within it. Filled row by row, a large table would miss the
// cache with every key.
func byHash(from *Table) []slot {
	var at [1<<parts + 1]int
	for _, key := range from.Keys {
		at[Mix(key)>>(64-parts)+1]++
	}
	for i := range 1 << parts {
		at[i+1] += at[i]
	}
	slots := make([]slot, len(from.Keys))
	for i, key := range from.Keys {
		hash := Mix(key)
		next := &at[hash>>(64-parts)]
		slots[*next] = newSlot(hash, i, from.Of(i))
		*next++
	}
	return slots
}

func newSlot(hash uint64, i int, members []uint16) slot {
	s := slot{hash: hash, n: uint16(min(len(members), many))}
	if copy(s.members[:], members) < len(members) {
		s.members, s.n = [inline]uint16{uint16(i), uint16(i >> 16)}, many
	}
	return s
}

// put inserts a slot in order, or over the one of the same key. The last slot
// stays free.
func (t *table) put(s slot) {
	i := t.home(s.hash)
	for t.slots[i].n != 0 && t.slots[i].hash < s.hash {
		i++
	}
	if t.slots[i].n != 0 && t.slots[i].hash == s.hash {
		t.slots[i] = s
		return
	}
	for t.slots[i].n != 0 {
		t.slots[i], s = s, t.slots[i]
		i++
	}
	if t.slots[i] = s; i == len(t.slots)-1 {
		t.slots = append(t.slots, vacant())
	}
}

func (t *table) home(hash uint64) int {
	i, _ := bits.Mul64(hash, t.homes)
	return int(i)
}

// find returns the first slot with a hash that is not lower. There is one: the last
// slot is free.
func (t *table) find(hash uint64) *slot {
	i := t.home(hash)
	for t.slots[i].hash < hash {
		i++
	}
	return &t.slots[i]
}

// members returns the workers of a key, nil if it is not in the table.
func (t *table) members(key uint64) []uint16 {
	hash := Mix(key)
	s := t.find(hash)
	if s.hash == hash && s.n <= inline {
		return s.members[:s.n]
	}
	return t.others(s, hash)
}

// others is members for a key that is not there, or has more workers than a slot.
func (t *table) others(s *slot, hash uint64) []uint16 {
	if s.hash != hash || s.n != many {
		return nil
	}
	return t.from.Of(int(s.members[0]) | int(s.members[1])<<16)
}
