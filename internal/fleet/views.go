package fleet

import (
	"cmp"
	"slices"

	"github.com/hashicorp/go-hclog"
)

// Load is what one worker's engine says of its load and of its prefix cache.
type Load struct {
	ID string
	Gauges
	// CacheQueries are the prompt tokens looked up in its prefix caches since the
	// process began, and CacheHits those found there, as of the last reading.
	CacheQueries, CacheHits Figure
}

// Snapshot returns the newest snapshot.
func (f *Fleet) Snapshot() *Snapshot { return f.snapshot.Load() }

// Loads returns the load of every member of a pool, ordered by ID.
func (f *Fleet) Loads(pool string) []Load {
	members := f.Snapshot().pools[pool]
	workers := *f.workers.Load()
	loads := make([]Load, 0, len(members))
	for _, m := range members {
		if w := workers[m.ID]; w != nil {
			w.mu.Lock()
			loads = append(loads, Load{m.ID, w.gauges, w.sample.CacheQueries, w.sample.CacheHits})
			w.mu.Unlock()
		}
	}
	return loads
}

// Report says what became of a request's attempt at a worker. An ID that is
// not of this fleet is ignored: the worker may just have left.
func (f *Fleet) Report(id string, o Outcome) {
	w := (*f.workers.Load())[id]
	if w == nil || o == Served && w.settled.Load() {
		return
	}
	if w.reported(o, now(), f.options.Probe, f.options.Breaker) {
		f.changed()
	}
}

// Drain keeps new requests away from a worker, or lets them come again; requests
// that run may end. It reports whether the fleet, or the one that is to take its
// place, has the worker, which remembers it until it leaves.
func (f *Fleet) Drain(id string, on bool) bool {
	f.setting.Lock()
	w, next := (*f.workers.Load())[id], f.next.Value()
	if w != nil && w.drain(on) {
		f.changed()
	}
	f.setting.Unlock()
	return next != nil && next.Drain(id, on) || w != nil
}

// Status is what is known of one worker, for people.
type Status struct {
	ID, URL     string
	Up          bool   // takes requests
	Draining    bool   // gets no new requests, whatever its state
	Starting    bool   // slowly
	Breaker     string // closed, open or trial
	Openings    uint64 // of its breaker
	Trouble     string // why it is not up, ""
	Incarnation uint64 // 0 until it has been up
	Engine      string // vllm, sglang, trtllm, llamacpp or "" if unknown
	Models      []string
	Adapters    []string
	KVTokens    int    // 0: unknown
	List        string // why its model list cannot be read, ""
	Metrics     string // why its metrics cannot be read, ""
	Sample      Sample // the last reading of metrics
	Gauges
}

// Workers returns the status of every worker, ordered by ID.
func (f *Fleet) Workers() []Status {
	var all []Status
	for _, w := range *f.workers.Load() {
		all = append(all, w.status())
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (w *worker) status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state()
	out := Status{
		ID: w.spec.Worker.ID, URL: w.spec.URL.String(), Up: !s.down, Breaker: phases[w.breaker.phase],
		Draining: s.draining, Starting: s.ramp > 0, Openings: s.openings,
		Trouble: w.trouble, Incarnation: s.incarnation, Engine: w.sample.Engine, Models: s.listing.bases,
		KVTokens: s.kvTokens, Sample: w.sample, Gauges: w.gauges,
	}
	for _, base := range s.listing.bases {
		out.Adapters = append(out.Adapters, s.listing.adapters[base]...)
	}
	if w.unlisted != nil {
		out.List = w.unlisted.Error()
	}
	if w.scraped != nil {
		out.Metrics = w.scraped.Error()
	}
	return out
}

// build makes a snapshot of the workers as they are.
func (f *Fleet) build(number uint64) *Snapshot {
	workers, at := *f.workers.Load(), now()
	records := make([]record, 0, len(workers))
	for _, w := range workers {
		records = append(records, w.record(at, f.options.Breaker))
	}
	return build(number, records)
}

// journal logs what has changed from one snapshot to the next.
type journal struct {
	log  hclog.Logger
	seen map[string]Status
}

// note logs the changes since the last call.
func (j *journal) note(workers []Status) {
	seen := make(map[string]Status, len(workers))
	for _, s := range workers {
		seen[s.ID] = s
		old, known := j.seen[s.ID]
		switch {
		case known && old.Incarnation != 0 && s.Incarnation != old.Incarnation:
			j.log.Info("worker restarted", "worker", s.ID, "incarnation", s.Incarnation, "up", s.Up)
		case s.Up && !old.Up:
			j.log.Info("worker is up", "worker", s.ID, "url", s.URL, "engine", s.Engine, "models", s.Models)
		case s.Draining != old.Draining && known:
			j.log.Info("worker drains or takes requests again", "worker", s.ID, "draining", s.Draining)
		case !s.Up && old.Up && s.Breaker == phases[open]:
			j.log.Warn("worker is out of rotation: its requests fail", "worker", s.ID)
		case !s.Up && old.Up:
			j.log.Warn("worker is down", "worker", s.ID, "error", s.Trouble)
		case known && len(old.Models) > 0 && !(slices.Equal(s.Models, old.Models) && slices.Equal(s.Adapters, old.Adapters)):
			j.log.Info("worker serves other models", "worker", s.ID, "models", s.Models, "adapters", s.Adapters)
		}
	}
	for id := range j.seen {
		if _, ok := seen[id]; !ok {
			j.log.Info("worker left", "worker", id)
		}
	}
	j.seen = seen
}
