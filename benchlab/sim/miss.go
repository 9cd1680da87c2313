package sim

import (
	"time"

	"gatewayd/benchlab/sim/measure"
)

// sought is where a prompt's tokens were when the request was routed: how many at
// its start.
type sought struct {
	here      int32 // in the worker's cache
	view      int32 // in it as the gateway believed
	elsewhere int32 // in the cache of the best other worker; 0 if nothing was missing here
}

const (
	maxKin    = 16 // rows that are looked at for workers that may have a prompt's start
	maxProbes = 4  // workers that are asked
)

// seek looks for a job's prompt before the job is given to a worker. Which other
// workers may have it is known from the rows that shared its start last; believed
// are the tokens that the gateway believed to be cached there.
func (l *lab) seek(believed int, slot, who int32) {
	j, m := &l.jobs.slots[slot], &l.machines[who]
	size := l.config.Trace.BlockTokens
	j.sought = sought{}
	if len(j.blocks) == 0 || size <= 0 {
		return
	}
	input := l.config.Trace.Requests[j.row].Input
	j.sought.view = m.reusable(max(believed, 0), input) // unknown is no promise
	seen := m.reusable(int(l.outline.seen[j.row]), input)
	if seen == 0 {
		return
	}
	now := time.Duration(l.now)
	if m.up() {
		j.sought.here = m.reusable(m.engine.Cached(now, j.blocks, size), input)
	}
	if j.sought.here >= seen {
		return
	}
	// A worker that has a block has those before it: only what follows is looked up.
	from := int(j.sought.here) / size
	probed, probes := [maxProbes]int16{}, 0
	kin := l.outline.from[j.row]
look:
	for range maxKin {
		if kin < 0 || probes == maxProbes || j.sought.elsewhere >= seen {
			return
		}
		other := l.requests[kin].Worker
		kin = l.outline.from[kin]
		if other < 0 || int32(other) == who {
			continue
		}
		for _, p := range probed[:probes] {
			if p == other {
				continue look
			}
		}
		probed[probes] = other
		probes++
		o := &l.machines[other]
		if n := o.engine.Cached(now, j.blocks[from:], size); n > 0 {
			j.sought.elsewhere = max(j.sought.elsewhere, o.reusable(from*size+n, input))
		}
	}
}

// reusable bounds tokens at a prompt's start to full blocks; at least one token
// is always computed.
func (m *machine) reusable(tokens, input int) int32 {
	return int32(min(tokens, input-1) / m.block * m.block)
}

// missed says why the tokens were computed that a finished request did not find.
func (l *lab) missed(j *job, r *measure.Request) measure.Misses {
	m := &l.machines[r.Worker]
	seen := max(m.reusable(int(l.outline.seen[j.row]), int(r.Prompt)), r.Cached)
	out := measure.Misses{Compulsory: r.Prompt - seen}
	at := r.Cached
	upTo := func(tokens int32) int32 {
		n := max(min(tokens, seen)-at, 0)
		at += n
		return n
	}
	out.Evicted = upTo(j.sought.here) // since the request was routed
	out.Stale = upTo(j.sought.view)
	out.Elsewhere = upTo(j.sought.elsewhere)
	out.Evicted += seen - at
	return out
}
