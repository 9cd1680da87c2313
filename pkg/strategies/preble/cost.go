package preble

import (
	"errors"
	"slices"
	"time"

	"gatewayd/pkg/router"
)

var errThreshold = errors.New(`option "threshold": a load cannot be below the least one; give 0 for never, or 1 or more`)

// parts is how many parts the window is counted in.
const parts = 60

// worker is what was sent to a worker.
type worker struct {
	work  [parts]float64 // prompt tokens to compute, by part of the window
	at    int64          // number of the newest part
	cache cache
}

// maxWorkers bounds the workers that are remembered, also if events are lost.
const maxWorkers = 1 << 16

func (p *preble) worker(id string) *worker {
	w := p.workers[id]
	if w == nil {
		if len(p.workers) >= maxWorkers {
			clear(p.workers)
		}
		w = &worker{}
		p.workers[id] = w
	}
	return w
}

// load is what a worker has to do, in seconds: the prefill that the requests of
// the window caused there, and the decoding of those that run.
func (p *preble) load(in router.Input, i int) float64 {
	w := p.worker(in.Workers[i].ID)
	w.forget(p.part(in.Now))
	tokens := 0.0
	for _, t := range w.work {
		tokens += t
	}
	return tokens/p.rate + float64(in.Workers[i].Load.InFlight)*p.outputs.value()*p.tpot
}

// eviction is what serving the request costs those who come back for what it
// would drive out, in seconds: their visits in the window times their prefill.
func (p *preble) eviction(in router.Input, i int) float64 {
	capacity := p.capacity
	if kv := in.Workers[i].KVTokens; kv > 0 {
		capacity = kv
	}
	need := in.Request.PromptTokens - in.Cached[i]
	return p.worker(in.Workers[i].ID).cache.evicted(need, capacity, in.Request.Key) / p.rate
}

// sent books a request on the worker that it is sent to.
func (p *preble) sent(in router.Input, i int) {
	p.routed++
	w := p.worker(in.Workers[i].ID)
	part := p.part(in.Now)
	w.forget(part)
	w.work[part%parts] += float64(in.Request.PromptTokens - in.Cached[i])
	w.cache.touch(in.Request.Key, in.Request.PromptTokens, part)
}

// part is the number of the part of the window that a time lies in.
func (p *preble) part(now router.Time) int64 {
	return max(0, int64(now)/max(1, int64(p.window/parts/time.Nanosecond)))
}

// forget clears the parts that left the window.
func (w *worker) forget(part int64) {
	for n := min(part-w.at, parts); n > 0; n-- {
		w.work[(part-n+1)%parts] = 0
	}
	w.at = max(w.at, part)
	w.cache.expire(part - parts)
}

// median is that of the last lengths.
type median struct {
	last   [127]int
	n, at  int
	sorted []int
}

// usual is the output length until one was seen, in tokens.
const usual = 256

func (m *median) add(v int) {
	m.last[m.at] = v
	m.at = (m.at + 1) % len(m.last)
	m.n = min(m.n+1, len(m.last))
	m.sorted = append(m.sorted[:0], m.last[:m.n]...)
	slices.Sort(m.sorted)
}

func (m *median) value() float64 {
	if m.n == 0 {
		return usual
	}
	return float64(m.sorted[m.n/2])
}
