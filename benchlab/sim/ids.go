package sim

import "math/bits"

// rowOf maps block ids to rows. It only grows, which makes it several times faster
// than a map: a trace has millions of blocks.
type rowOf struct {
	entries []idRow
	used    int
	shift   uint
}

type idRow struct {
	id  uint64
	row int32 // plus one; 0 is a free entry
}

// newRowOf has room for about n ids before it grows.
func newRowOf(n int) *rowOf {
	width := max(bits.Len(uint(n))+1, 6)
	return &rowOf{entries: make([]idRow, 1<<width), shift: uint(64 - width)}
}

// find returns the entry of an id, or the free one where it belongs.
func (t *rowOf) find(id uint64) *idRow {
	for i := id * 0x9e3779b97f4a7c15 >> t.shift; ; i++ {
		if e := &t.entries[i&uint64(len(t.entries)-1)]; e.row == 0 || e.id == id {
			return e
		}
	}
}

// get returns the row of an id.
func (t *rowOf) get(id uint64) (row int32, ok bool) {
	e := t.find(id)
	return e.row - 1, e.row > 0
}

// put sets the row of an id.
func (t *rowOf) put(id uint64, row int32) {
	e := t.find(id)
	if e.row == 0 {
		if t.used++; 2*t.used > len(t.entries) {
			t.grow()
			e = t.find(id)
		}
	}
	*e = idRow{id, row + 1}
}

func (t *rowOf) grow() {
	old := t.entries
	t.entries, t.shift = make([]idRow, 2*len(old)), t.shift-1
	for _, e := range old {
		if e.row > 0 {
			*t.find(e.id) = e
		}
	}
}

// leading counts the leading blocks that are there, by bisection: a block is there
// only behind all that come before it.
func (t *rowOf) leading(blocks []uint64, salt uint64) int {
	low, high := 0, len(blocks)
	for low < high {
		mid := (low + high) / 2
		if t.find(blocks[mid]^salt).row > 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
