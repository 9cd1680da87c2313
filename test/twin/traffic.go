package main

import (
	"fmt"
	"slices"
	"time"

	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// traffic is a part of the built-in trace: the first rows requests of sessions
// with at least turns of them, at rate times their recorded pace, each prompt once.
type traffic struct {
	turns, rows int
	rate        float64
	// apart is the least time between two arrivals. A gateway takes some
	// milliseconds to read a prompt of 80,000 tokens, so of two requests that come
	// closer together the smaller one may be placed first.
	apart  time.Duration
	prompt int // tokens of the longest prompt that is taken; 0: any
	answer int // tokens that longer answers are cut to; 0: none is
}

// finer is a trace with its blocks cut to those of a gateway: 512 bytes, which are
// 128 tokens of this text. What prompts share stays the same.
func finer(t *trace.Trace) (*trace.Trace, error) {
	const tokens = 128
	if t.BlockTokens%tokens != 0 {
		return nil, fmt.Errorf("blocks of %d tokens cannot be cut to %d", t.BlockTokens, tokens)
	}
	c := *t
	c.BlockTokens = tokens
	c.Requests = slices.Clone(t.Requests)
	for i := range c.Requests {
		r := &c.Requests[i]
		ids := make([]uint64, 0, r.Input/tokens+1)
		for k, id := range t.Requests[i].Blocks {
			for n := range min(t.BlockTokens, r.Input-k*t.BlockTokens+tokens-1) / tokens {
				ids = append(ids, router.Mix(id^router.Mix(uint64(n))))
			}
		}
		r.Blocks = ids
	}
	return &c, nil
}

// draw makes the traffic of a seed.
func (x traffic) draw(seed uint64) (*trace.Trace, error) {
	whole, err := trace.Default()
	if err != nil {
		return nil, err
	}
	t := *whole.Spread(seed).InferSessions(0)
	turns := map[uint64]int{}
	for i := range t.Requests {
		turns[t.Requests[i].Session]++
	}
	var rows []trace.Request
	sent := map[uint64]bool{}   // prompts, by the id of their last block
	number := map[int32]int32{} // of a row of the trace among the rows
	for i := range t.Requests {
		r := t.Requests[i]
		if turns[r.Session] < x.turns || len(rows) == x.rows || x.prompt > 0 && r.Input > x.prompt {
			continue
		}
		// Of a prompt that comes a second time, to the last token, the simulator's
		// gateway knows the last block, which is not full; a real one only full ones.
		last := r.Blocks[len(r.Blocks)-1]
		if sent[last] {
			continue
		}
		sent[last] = true
		number[int32(i)] = int32(len(rows))
		var after []int32
		for _, before := range r.After {
			if n, ok := number[before]; ok {
				after = append(after, n)
			}
		}
		if r.After = after; after == nil {
			r.Think = 0
		}
		if x.answer > 0 {
			r.Output = min(r.Output, x.answer)
		}
		rows = append(rows, r)
	}
	if len(rows) < x.rows {
		return nil, fmt.Errorf("the trace has only %d requests of sessions with %d turns", len(rows), x.turns)
	}
	first := rows[0].At
	for i := range rows {
		rows[i].At -= first
	}
	for i := 1; i < len(rows); i++ {
		rows[i].At = max(rows[i].At, rows[i-1].At+time.Duration(float64(x.apart)*x.rate))
	}
	t.Requests = rows
	t.Notes = append(slices.Clip(t.Notes), fmt.Sprintf("first %d requests of sessions with %d turns or more kept", x.rows, x.turns))
	return t.Scale(x.rate)
}
