package trace

import "fmt"

// numbering gives block ids small numbers in order of appearance, so that files
// are small and the ids of sessions differ. The slices that it returns are valid
// until the next call. The zero value is ready.
type numbering struct {
	numbers map[uint64]uint64
	next    uint64
	buffer  []uint64
}

func (n *numbering) number(key uint64) uint64 {
	if n.numbers == nil {
		n.numbers = map[uint64]uint64{}
	}
	i, ok := n.numbers[key]
	if !ok {
		i = n.fresh()
		n.numbers[key] = i
	}
	return i
}

// fresh is a number that nothing else has.
func (n *numbering) fresh() uint64 {
	n.next++
	return n.next - 1
}

// own numbers the ids of a row as they are.
func (n *numbering) own(t *Trace, r *Request) []uint64 {
	n.buffer = n.buffer[:0]
	salt := t.Scope.salt(r.Session)
	for _, id := range r.Blocks {
		n.buffer = append(n.buffer, n.number(mix(id^salt, 0)))
	}
	return n.buffer
}

// regrouped numbers the blocks of size tokens of a row, a partial last one
// included. What the row does not identify gets fresh numbers, so reuse is never
// overstated. size must divide the trace's block size or be a multiple of it.
func (n *numbering) regrouped(t *Trace, r *Request, size int) []uint64 {
	n.buffer = n.buffer[:0]
	salt, full := t.Scope.salt(r.Session), t.full(r)
	for end := size; end <= r.Input; end += size {
		at := (end - 1) / t.BlockTokens // the trace's block that this one ends in
		switch {
		case at < full, at < len(r.Blocks) && end > full*t.BlockTokens && size < t.BlockTokens:
			n.buffer = append(n.buffer, n.number(mix(r.Blocks[at]^salt, uint64(end-1-at*t.BlockTokens))))
		default:
			n.buffer = append(n.buffer, n.fresh())
		}
	}
	if rest := r.Input % size; rest > 0 {
		if ids := len(r.Blocks); ids > 0 && ids == PartialCounted.ids(r.Input, t.BlockTokens) {
			n.buffer = append(n.buffer, n.number(mix(r.Blocks[ids-1]^salt, 1<<20+uint64(rest))))
		} else {
			n.buffer = append(n.buffer, n.fresh())
		}
	}
	return n.buffer
}

// Regroups is an error if blocks of size tokens cannot be made of the trace's.
func (t *Trace) Regroups(size int) error {
	if size > 0 && size <= maxBlockTokens && t.BlockTokens > 0 && (size%t.BlockTokens == 0 || t.BlockTokens%size == 0) {
		return nil
	}
	return fmt.Errorf("%s: blocks of %d tokens cannot be made of blocks of %d; give a multiple or a divisor", t.Name, size, t.BlockTokens)
}
