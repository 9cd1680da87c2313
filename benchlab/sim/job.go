package sim

import (
	"strconv"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// jobState is what an open request is waiting for.
type jobState uint8

const (
	idle     jobState = iota // nothing: it is being looked at
	asking                   // a strategy's answer
	fetching                 // shared facts
	waiting                  // a worker
	running                  // its worker
)

// job is a request between its arrival and its ending.
type job struct {
	row     int32
	gateway int32
	serial  uint64 // of the requests opened so far, 0 if the slot is unused
	ticket  router.Ticket
	state   jobState
	first   bool  // its first token came
	pending int32 // uncached prompt tokens that its worker has to compute
	inTime  bool  // the answer will be
	sought  sought
	blocks  []uint64        // of the prompt, read by engine and core until the request ends
	own     []uint64        // room for blocks that are not the trace's
	answer  router.Decision // of a strategy that takes its time
	facts   []router.FactKey
	until   router.Time // when its wait is over
}

// jobs are the open requests, by slot. Slots and their buffers are reused.
type jobs struct {
	trace   *trace.Trace
	slots   []job
	unused  []int32
	serial  uint64
	protect bool
}

func (q *jobs) init(c Config) { q.trace, q.protect = c.Trace, c.Options.Protect }

// open takes a slot for a row of the trace.
func (q *jobs) open(row int, gateway int32) int32 {
	var slot int32
	if n := len(q.unused); n > 0 {
		slot, q.unused = q.unused[n-1], q.unused[:n-1]
	} else {
		q.slots = append(q.slots, job{})
		slot = int32(len(q.slots) - 1)
	}
	j, r := &q.slots[slot], &q.trace.Requests[row]
	q.serial++
	*j = job{row: int32(row), gateway: gateway, serial: q.serial, blocks: r.Blocks, own: j.own[:0]}
	if q.trace.Scope != trace.ScopeGlobal {
		salt := scoped(q.trace, r)
		for _, b := range r.Blocks {
			j.own = append(j.own, router.Mix(b^salt))
		}
		j.blocks = j.own
	}
	return slot
}

func (q *jobs) close(slot int32) {
	j := &q.slots[slot]
	*j = job{own: j.own}
	q.unused = append(q.unused, slot)
}

// count is how many requests are open.
func (q *jobs) count() int { return len(q.slots) - len(q.unused) }

// request is what the gateway's core learns of a job. Clients state no limit of
// tokens, so nobody knows the length of an answer ahead.
func (q *jobs) request(slot int32, named bool) router.Request {
	j := &q.slots[slot]
	r := &q.trace.Requests[j.row]
	out := router.Request{
		Key: key(r.Session), Tenant: r.Tenant,
		PromptTokens: r.Input, Blocks: j.blocks, BlockTokens: q.trace.BlockTokens,
	}
	if named {
		out.ID = strconv.Itoa(int(j.row))
	}
	return out
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
	out := engine.Request{
		ID: uint64(slot), PromptTokens: r.Input, OutputTokens: r.Output,
		Blocks: j.blocks, BlockTokens: q.trace.BlockTokens,
	}
	if q.protect {
		out.Owner = key(r.Session)
	}
	return out
}

// arrive begins the life of a request, at one of the gateways that are up.
func (l *lab) arrive(row int) {
	if l.isRoot(row) {
		l.expect(row + 1)
	}
	r := &l.requests[row]
	r.Arrived, r.Prompt = l.sinceStart(), int32(l.config.Trace.Requests[row].Input)
	if len(l.up) == 0 {
		slot := l.jobs.open(row, 0)
		l.end(slot, measure.NoGateway)
		return
	}
	n := l.up[0]
	if len(l.up) > 1 {
		n = l.up[router.Mix(stream(l.config.Seed, "gateways")^uint64(row))%uint64(len(l.up))]
	}
	g := &l.gateways[n]
	slot := l.jobs.open(row, n)
	r.Gateway = uint8(n)
	l.perform(slot, g.core.Arrive(l.now, l.jobs.request(slot, g.named)))
}

func (l *lab) firstToken(slot int32) {
	j := &l.jobs.slots[slot]
	j.first = true
	l.requests[j.row].First = l.sinceStart()
	l.gateways[j.gateway].core.FirstToken(l.now, j.ticket)
}

// finished is the good end of a request.
func (l *lab) finished(slot int32, v engine.Event) {
	j := &l.jobs.slots[slot]
	r := &l.requests[j.row]
	r.Output, r.Cached = int32(v.Tokens), int32(v.Cached)
	r.Misses = l.missed(j, r)
	if v.Tokens == 0 {
		r.First = l.sinceStart()
	}
	g := &l.gateways[j.gateway]
	usage := router.Usage{PromptTokens: int(r.Prompt), OutputTokens: v.Tokens, CachedTokens: v.Cached}
	g.core.Finish(l.now, j.ticket, router.Ending{Outcome: router.Completed, Usage: l.config.Options.Signal.Usage(usage)})
	l.touch(g)
	l.end(slot, measure.Complete)
}

// lost is what the failure of its worker does to a request: before the first
// token another worker is tried, after it the answer is broken.
func (l *lab) lost(slot int32) {
	j := &l.jobs.slots[slot]
	g := &l.gateways[j.gateway]
	l.touch(g)
	if !j.first {
		l.perform(slot, g.core.Retry(l.now, j.ticket))
		return
	}
	g.core.Finish(l.now, j.ticket, router.Ending{Outcome: router.Failed})
	l.end(slot, measure.WorkerLost)
}

// end is the one place where a request ends.
func (l *lab) end(slot int32, outcome measure.Outcome) {
	row := l.jobs.slots[slot].row
	r := &l.requests[row]
	if r.Outcome != measure.Pending {
		l.broken("request %d ended as %v after it had ended as %v", row, outcome, r.Outcome)
		return
	}
	r.Outcome, r.Ended = outcome, l.sinceStart()
	l.left--
	l.jobs.close(slot)
	if l.config.Options.Timing == Sessions {
		l.follow(row)
	}
}
