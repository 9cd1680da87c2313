package trace

import "fmt"

// Expander turns a trace's blocks into the smaller blocks of an engine. It is a
// value, safe for concurrent use.
type Expander struct {
	from, to int
	scope    Scope
}

// Expander gives one for blocks of tokens prompt tokens, which must divide the
// trace's BlockTokens.
func (t *Trace) Expander(tokens int) (Expander, error) {
	if tokens <= 0 || t.BlockTokens <= 0 || t.BlockTokens%tokens != 0 {
		return Expander{}, fmt.Errorf("expand %s: blocks of %d tokens cannot be cut into blocks of %d; give a divisor",
			t.Name, t.BlockTokens, tokens)
	}
	return Expander{from: t.BlockTokens, to: tokens, scope: t.Scope}, nil
}

// Append appends the ids of r's full small blocks to dst and returns it; it
// allocates only when dst is too short. The ids are chained as the trace's are:
// two are equal if and only if they stand at the same place under equal ids of the
// trace, so equal small ids mean equal prefixes. The last block of a trace, when
// partial, gives floor(rest / tokens) ids, and none if it has no id itself. A
// partial block's id says nothing about the full block that a longer prompt has
// in its place, so reuse of a partial tail by a follow-up is not seen: reuse is
// never overstated.
func (e Expander) Append(dst []uint64, r *Request) []uint64 {
	salt := e.scope.salt(r.Session)
	rest := r.Input
	for _, id := range r.Blocks {
		n := min(rest, e.from) / e.to
		for i := range n {
			dst = append(dst, mix(id^salt, uint64(i)))
		}
		rest -= e.from
	}
	return dst
}

// Len is how many ids Append adds for r.
func (e Expander) Len(r *Request) int {
	return min(r.Input, len(r.Blocks)*e.from) / e.to
}

// mix derives the i-th id under id. For a given i it is one to one in id (Stafford's
// variant 13 of the MurmurHash3 finaliser, as in SplitMix64); ids below 2^32 with
// i below 2^16 cannot meet under different i, since multiples of the golden
// ratio's odd constant keep that far apart.
func mix(id, i uint64) uint64 {
	z := id + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
