package engine

import "math"

// names are those of blocks in a row: an id stands for per blocks, and the first
// name is that of block off of the first id. Without ids the blocks have no name.
type names struct {
	ids      []uint64
	per, off int32 // 0 <= off < per
}

// len is how many names there are, or math.MaxInt32 if more.
func (x names) len() int32 {
	return int32(min(len(x.ids)*int(x.per)-int(x.off), math.MaxInt32))
}

// skip returns the names after the first n.
func (x names) skip(n int32) names {
	if len(x.ids) == 0 {
		return x
	}
	at := x.off + n
	return names{x.ids[at/x.per:], x.per, at % x.per}
}

// touched is how many ids the first n names touch.
func (x names) touched(n int32) int32 {
	if n == 0 || len(x.ids) == 0 {
		return 0
	}
	return (x.off + n + x.per - 1) / x.per
}

// common is how many of the first n names x shares with y, which both have as many
// and whose first one is the same.
func (x names) common(y names, n int32) int32 {
	for i := range x.touched(n) {
		if x.ids[i] != y.ids[i] {
			return i*x.per - x.off
		}
	}
	return n
}
