package sim

import (
	"fmt"
	"strconv"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// job is a request between its arrival and its ending.
type job struct {
	row    int32
	ticket router.Ticket
	// blocks are the prompt's blocks in the engines' size and own the trace's;
	// engine and core read them until the request ends.
	blocks, own []uint64
	answer      router.Decision // of a strategy that takes its time
	inTime      bool
}

// jobs are the open requests, by slot. Slots and their buffers are reused.
type jobs struct {
	trace  *trace.Trace
	small  trace.Expander // into the engines' blocks
	same   trace.Expander // into blocks of the trace's size, free of session scope
	slots  []job
	unused []int32
}

func (q *jobs) init(t *trace.Trace, machines []machine) (err error) {
	size := machines[0].engine.Profile().BlockTokens
	for i := range machines {
		if other := machines[i].engine.Profile().BlockTokens; other != size {
			return fmt.Errorf("simulation: workers with KV blocks of %d and of %d tokens; give all the same", size, other)
		}
	}
	if q.small, err = t.Expander(size); err != nil {
		return err
	}
	q.trace = t
	q.same, err = t.Expander(t.BlockTokens)
	return err
}

// open takes a slot for a row of the trace.
func (q *jobs) open(row int) int32 {
	var slot int32
	if n := len(q.unused); n > 0 {
		slot, q.unused = q.unused[n-1], q.unused[:n-1]
	} else {
		q.slots = append(q.slots, job{})
		slot = int32(len(q.slots) - 1)
	}
	j, r := &q.slots[slot], &q.trace.Requests[row]
	*j = job{row: int32(row), blocks: q.small.Append(j.blocks[:0], r), own: j.own[:0]}
	if q.trace.Scope != trace.ScopeGlobal {
		j.own = q.same.Append(j.own, r)
	}
	return slot
}

func (q *jobs) close(slot int32) { q.unused = append(q.unused, slot) }

// request is what the gateway's core learns of a job. Clients state no limit of
// tokens, so nobody knows the length of an answer ahead.
func (q *jobs) request(slot int32) router.Request {
	j := &q.slots[slot]
	r := &q.trace.Requests[j.row]
	blocks := r.Blocks
	if q.trace.Scope != trace.ScopeGlobal {
		blocks = j.own
	}
	return router.Request{
		ID: strconv.Itoa(int(j.row)), Key: key(r.Session),
		PromptTokens: r.Input, Blocks: blocks, BlockTokens: q.trace.BlockTokens,
	}
}

// key is the affinity key of a session, 0 if there is none.
func key(session uint64) uint64 {
	if session == 0 {
		return 0
	}
	return max(1, router.Mix(session))
}

// work is what a worker learns of a job.
func (q *jobs) work(slot int32) engine.Request {
	j := &q.slots[slot]
	r := &q.trace.Requests[j.row]
	return engine.Request{ID: uint64(slot), PromptTokens: r.Input, OutputTokens: r.Output, Blocks: j.blocks}
}

// arrive begins the life of a request.
func (l *lab) arrive(row int) {
	l.expect(row + 1)
	l.requests[row].Arrived = l.sinceStart()
	l.requests[row].Prompt = int32(l.config.Trace.Requests[row].Input)
	slot := l.jobs.open(row)
	l.perform(slot, l.gateway.core.Arrive(l.now, l.jobs.request(slot)))
}

func (l *lab) firstToken(slot int32) {
	j := &l.jobs.slots[slot]
	l.requests[j.row].First = l.sinceStart()
	l.gateway.core.FirstToken(l.now, j.ticket)
}

// finished is the good end of a request.
func (l *lab) finished(slot int32, v engine.Event) {
	j := &l.jobs.slots[slot]
	r := &l.requests[j.row]
	r.Output, r.Cached = int32(v.Tokens), int32(v.Cached)
	if v.Tokens == 0 {
		r.First = l.sinceStart()
	}
	l.gateway.core.Finish(l.now, j.ticket, router.Ending{Outcome: router.Completed, Usage: router.Usage{
		PromptTokens: int(r.Prompt), OutputTokens: v.Tokens, CachedTokens: v.Cached,
	}})
	l.end(slot, measure.Complete)
}

// end is the one place where a request ends.
func (l *lab) end(slot int32, outcome measure.Outcome) {
	r := &l.requests[l.jobs.slots[slot].row]
	if r.Outcome != measure.Pending {
		l.broken("request %d ended as %v after it had ended as %v", l.jobs.slots[slot].row, outcome, r.Outcome)
		return
	}
	r.Outcome, r.Ended = outcome, l.sinceStart()
	l.left--
	l.jobs.close(slot)
}
