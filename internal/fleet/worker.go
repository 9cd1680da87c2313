package fleet

import (
	"sync"
	"sync/atomic"

	"gatewayd/internal/config"
	"gatewayd/internal/http1"
	"gatewayd/pkg/router"
)

// worker is what the fleet knows of one worker. Its methods take facts in and
// report whether the worker's record has changed by them.
type worker struct {
	settled atomic.Bool // up and serving: a served request says nothing new

	mu       sync.Mutex
	spec     Spec
	health   health
	been     bool // up at least once
	breaker  breaker
	ramp     ramp
	drained  bool // by an operator, beside what its spec says
	life     life
	listing  *listing
	relist   bool // the listing is that of a former life
	sample   Sample
	gauges   Gauges
	kvTokens int    // as metrics tell
	metrics  string // path of its metrics
	trouble  string // why it is not up, "" if it is
	scraped  error  // of the last reading of metrics, nil before the first
	large    int    // readings of metrics in a row that were too large
	unlisted error  // of the last reading of the model list while up

	// recheck, relook and rescrape wake the goroutines that watch it.
	recheck, relook, rescrape chan struct{}
}

// Gauges are what an engine says of its load. A figure keeps the time at which
// it was seen last: it grows old when the engine no longer answers.
type Gauges struct {
	Running router.Gauge // sequences in the batch
	Waiting router.Gauge // sequences in the queue
	KVUsed  router.Gauge // share of the KV cache in use, 0..1
}

func newWorker(s Spec, l life) *worker {
	return &worker{
		spec: s, life: l, listing: staticListing(s.Models), relist: true,
		gauges:  Gauges{router.Unknown, router.Unknown, router.Unknown},
		trouble: "not checked yet", metrics: metricsPath,
		recheck: make(chan struct{}, 1), relook: make(chan struct{}, 1), rescrape: make(chan struct{}, 1),
	}
}

// state is the part of a worker that its record shows.
type state struct {
	down, draining bool
	incarnation    uint64 // 0 until it has been up
	kvTokens       int
	listing        *listing
	phase          phase
	served         int // on trial
	ramp           int // step of the slow start
	openings       uint64
}

func (w *worker) state() state {
	s := state{
		draining:    w.spec.Drain || w.drained,
		incarnation: w.life.incarnation,
		kvTokens:    w.spec.Worker.KVTokens,
		listing:     w.listing,
		phase:       w.breaker.phase,
		served:      w.breaker.served,
		ramp:        w.ramp.step,
		openings:    w.breaker.openings,
	}
	s.down = !w.health.up || w.breaker.phase == open || s.draining
	if !w.been {
		s.incarnation = 0
	}
	if s.kvTokens == 0 {
		s.kvTokens = w.kvTokens
	}
	return s
}

// update runs f under the worker's lock and reports whether its record changed.
func (w *worker) update(f func()) (changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.state()
	f()
	w.been = w.been || w.health.up
	w.settled.Store(w.health.up && w.health.bad == 0 && w.breaker.phase == closed && w.breaker.failures == 0)
	return before != w.state()
}

// record returns what a snapshot made at now shows of the worker.
func (w *worker) record(now router.Time, b config.Breaker) record {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state()
	r := record{
		listing: s.listing, ramp: w.ramp.admits(),
		member: Member{URL: w.spec.URL, Openings: s.openings, key: w.spec.Key, headers: http1.HeaderOf(w.spec.Headers), names: w.spec.Names},
	}
	r.member.Worker = w.spec.Worker
	if r.member.Carbon.Source == configured {
		r.member.Carbon.GramsPerKWh.At = now
	}
	r.member.Down, r.member.Admit = s.down, w.breaker.admits(b)
	r.member.Incarnation, r.member.KVTokens = s.incarnation, s.kvTokens
	r.member.KVLimit = int(w.spec.KVLoad * float64(s.kvTokens))
	r.member.Load = unknownLoad()
	return r
}

// passed takes in a health check that passed; up says that the worker has come
// up by it. It then starts slowly if it was up before, or if slow.
func (w *worker) passed(now router.Time, p config.Probe, slow bool) (changed, up bool) {
	changed = w.update(func() {
		was := w.health.up
		w.health.observe(true, p.Successes, p.Failures)
		if up = w.health.up && !was; w.health.up {
			w.trouble = ""
		}
		if up && (slow || w.been) {
			w.ramp.begin(now, p.SlowStart)
		}
	})
	return changed, up
}

// failed takes in a health check that failed.
func (w *worker) failed(err error, p config.Probe) bool {
	return w.update(func() {
		if refused(err) {
			w.life.refused()
		}
		w.health.observe(false, p.Successes, p.Failures)
		w.trouble = err.Error()
	})
}

// reported takes in what became of a request.
func (w *worker) reported(o Outcome, now router.Time, p config.Probe, b config.Breaker) bool {
	return w.update(func() {
		switch o {
		case Served:
			was := w.breaker.phase
			if w.breaker.succeed(now, b); was != closed && w.breaker.phase == closed {
				w.ramp.begin(now, p.SlowStart)
			}
			if w.health.up {
				w.health.bad = 0
			}
		case Refused, Unreachable:
			if o == Refused {
				w.life.refused()
			}
			w.health.observe(false, p.Successes, p.Failures)
			w.trouble = "a request's connection was " + o.String()
			wake(w.recheck)
		case Broken:
			w.breaker.fail(now, b)
			wake(w.recheck)
		case Missing:
			wake(w.relook)
		}
	})
}

// wake wakes a goroutine; one that is about to wake is left alone.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// unknownLoad is the load of a worker that nobody has asked.
func unknownLoad() router.Load {
	return router.Load{
		Running: router.Unknown, Waiting: router.Unknown, KVUsed: router.Unknown,
		TTFT: router.Unknown, Latency: router.Unknown,
	}
}
