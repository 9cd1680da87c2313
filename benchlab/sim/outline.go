package sim

import (
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// Outline is what a trace says of itself before any run: how much of each prompt
// an earlier row has shown, which row that was, and which rows follow which. It
// takes 8 bytes a row, 16 where rows follow others; it is immutable, and may be
// shared by runs side by side.
type Outline struct {
	trace *trace.Trace
	seen  []int32 // tokens at the start of each row's prompt that an earlier row began with as well
	from  []int32 // the latest row that shared just these; -1 without any

	heads   []int32 // followers of row i are tails[heads[i]:heads[i+1]]; nil if no row follows another
	tails   []int32
	invalid int // first row that follows one which is not before it; -1 if none does
}

// NewOutline reads a trace, which must not be changed afterwards. It relies on
// what chained ids promise: a block that was seen before was seen behind the same
// blocks.
func NewOutline(t *trace.Trace) *Outline {
	o := &Outline{trace: t, seen: make([]int32, len(t.Requests)), from: make([]int32, len(t.Requests)), invalid: -1}
	shown := newRowOf(hint(t)) // by block: the row that showed it first, or that ended its share there
	for row := range t.Requests {
		r := &t.Requests[row]
		salt := scoped(t, r)
		n := shown.leading(r.Blocks, salt)
		o.from[row] = -1
		if n > 0 {
			o.from[row], _ = shown.get(r.Blocks[n-1] ^ salt)
			o.seen[row] = int32(min(n*t.BlockTokens, r.Input))
			shown.put(r.Blocks[n-1]^salt, int32(row))
		}
		for _, b := range r.Blocks[n:] {
			shown.put(b^salt, int32(row))
		}
	}
	o.link()
	return o
}

// hint is about how many different blocks a trace has.
func hint(t *trace.Trace) int {
	n := 0
	for row := range t.Requests {
		n += len(t.Requests[row].Blocks)
	}
	return min(n, 1<<20)
}

// scoped keeps apart what ids mean in different sessions, where they do.
func scoped(t *trace.Trace, r *trace.Request) uint64 {
	if t.Scope == trace.ScopeGlobal {
		return 0
	}
	return router.Mix(r.Session)
}

// link turns Request.After around.
func (o *Outline) link() {
	requests, n := o.trace.Requests, 0
	for row := range requests {
		for _, before := range requests[row].After {
			if before < 0 || int(before) >= row {
				o.invalid = row
				return
			}
			n++
		}
	}
	if n == 0 {
		return
	}
	o.heads, o.tails = make([]int32, len(requests)+1), make([]int32, n)
	for row := range requests {
		for _, before := range requests[row].After {
			o.heads[before]++
		}
	}
	for i := range requests { // to the end of each row's followers
		o.heads[i+1] += o.heads[i]
	}
	for row := len(requests) - 1; row >= 0; row-- { // and back to their beginning
		for _, before := range requests[row].After {
			o.heads[before]--
			o.tails[o.heads[before]] = int32(row)
		}
	}
}

// followers are the rows that wait for a row's answer, in order.
func (o *Outline) followers(row int32) []int32 {
	if o.heads == nil {
		return nil
	}
	return o.tails[o.heads[row]:o.heads[row+1]]
}
