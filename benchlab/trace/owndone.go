package trace

import (
	"fmt"
	"slices"
	"time"
)

// done turns lines in order of ending into requests in order of arrival.
func (o *own) done(l *lines) (*Trace, error) {
	t := o.t
	if o.header.BlockBytes > 0 {
		o.measure()
	}
	stated, err := o.join(l)
	if err != nil {
		return nil, err
	}
	order := make([]int32, len(t.Requests))
	for i := range order {
		order[i] = int32(i)
	}
	took := make(map[int]time.Duration, len(o.rows))
	for i := range o.rows {
		if o.rows[i].took > 0 {
			took[t.Requests[i].Line] = o.rows[i].took
		}
	}
	t.Requests, _ = sorted(picked(t.Requests, order))
	if !stated {
		t.link(func(row int32) (time.Duration, bool) {
			d, ok := took[t.Requests[row].Line]
			return d, ok
		})
	}
	if !slices.ContainsFunc(t.Requests, func(r Request) bool { return len(r.Blocks) > 0 }) {
		t.Scope = ScopeNone
		t.Notes = append(t.Notes, noPrefixes)
	}
	if t.Clock {
		t.fromZero()
	}
	if o.failed > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d requests did not complete when they were recorded; kept, with answers as long as what was sent", o.failed))
	}
	if o.dropped > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d requests are missing: they came faster than they could be written", o.dropped))
	}
	if o.guessed > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("no worker counted the tokens of %d prompts: estimated by the gateway from their bytes", o.guessed))
	}
	return t, nil
}

// measure turns blocks of bytes into blocks of tokens: the multiple of 16 next to
// what a block has on average. A prompt with more blocks than its tokens have
// room for loses the last ones.
func (o *own) measure() {
	t := o.t
	rate, from := 0.25, "assumed"
	if o.bytes > 0 && o.tokens > 0 {
		rate, from = float64(o.tokens)/float64(o.bytes), "counted by workers"
	}
	const grain = 16
	t.BlockTokens = min(max(grain, int(float64(o.header.BlockBytes)*rate/grain+0.5)*grain), maxBlockTokens)
	cut := 0
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Input == 0 {
			r.Input = min(int(float64(o.rows[i].bytes)*rate), maxTokens)
		}
		if room := t.Partial.ids(r.Input, t.BlockTokens); len(r.Blocks) > room {
			r.Blocks = r.Blocks[:room:room]
			cut++
		}
		r.Preamble = min(r.Preamble, int32(len(r.Blocks)))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("blocks of %d bytes taken as %d tokens each: %.4f tokens a byte, %s", o.header.BlockBytes, t.BlockTokens, rate, from))
	if cut > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d prompts have fewer tokens than that a byte: ids end with the prompt", cut))
	}
}

// join fills in After where lines state it.
func (o *own) join(l *lines) (stated bool, err error) {
	for i := range o.rows {
		r := &o.t.Requests[i]
		for _, id := range o.rows[i].after {
			other, ok := o.ids[id]
			if !ok {
				return false, l.refuseRow(r.Line, fmt.Sprintf("after names %q, which no line has", clip(id)), "is the file cut? keep whole sessions")
			}
			b := &o.t.Requests[other]
			if b.At > r.At || b.At == r.At && int(other) >= i {
				return false, l.refuseRow(r.Line, fmt.Sprintf("after names %q, which arrives later", clip(id)), "correct at_ns or after")
			}
			r.After = append(r.After, other)
			stated = true
		}
		if r.After == nil {
			r.Think = 0
		}
	}
	return stated, nil
}
