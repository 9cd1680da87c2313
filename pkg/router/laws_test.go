package router

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

// lacks reports why the request may not go to the worker of a slot now, by the
// twin's books; "" if it may.
func (x *lifetimes) lacks(r *request, slot int) string {
	m, w := &x.fleet[slot], x.core.workers[slot]
	switch {
	case m.Down:
		return "it is down"
	case r.Adapter != "" && !slices.Contains(m.Adapters, r.Adapter):
		return "it has not the adapter"
	case slices.Contains(r.tried, w):
		return "it was tried before"
	case w.pause.on && w.pause.until > x.now:
		return "it pauses"
	case !w.pause.on && w.pause.room > 0 && x.running[w] >= w.pause.room:
		return "it is at its limit"
	case m.Concurrency > 0 && x.running[w]+x.load[slot].InFlight >= m.Concurrency:
		return "it is at its limit"
	case m.Admit > 0 && x.running[w] >= m.Admit:
		return "it is at its limit"
	case m.KVLimit > 0 && x.holds(w, slot, r.ID) >= float64(m.KVLimit):
		return "it is at its limit"
	}
	return ""
}

// holds is what the requests at a worker hold in tokens: those of peers of which only
// the number is told count by the mean of all others. One request does not count, but
// in the mean.
func (x *lifetimes) holds(w *worker, slot int, without string) float64 {
	sum, sized := x.load[slot].HeldTokens, x.sized[slot]+x.running[w]
	if sized == 0 {
		return 0
	}
	for _, l := range x.core.lives {
		if l.state == running && l.worker == w && l.req.ID != without {
			sum += l.held
		}
	}
	return float64(sum) * float64(x.running[w]+x.load[slot].InFlight) / float64(sized)
}

// sumPeers sums what the peers have at each worker.
func (x *lifetimes) sumPeers() {
	x.load, x.sized = make([]WorkerLoad, len(x.fleet)), make([]int, len(x.fleet))
	for slot, m := range x.fleet {
		for _, s := range x.peers {
			for _, l := range s.Loads {
				if l.WorkerRef == (WorkerRef{m.ID, m.Incarnation}) {
					x.load[slot].InFlight += max(0, l.InFlight)
					x.load[slot].QueuedTokens += max(0, l.QueuedTokens)
					if l.HeldTokens > 0 {
						x.load[slot].HeldTokens += l.HeldTokens
						x.sized[slot] += max(0, l.InFlight)
					}
				}
			}
		}
	}
}

// canGo reports whether a waiting request has no reason to wait.
func (x *lifetimes) canGo(r *request) bool {
	hope := false
	for slot := range x.fleet {
		why := x.lacks(r, slot)
		if why == "" {
			return true
		}
		hope = hope || why == "it is at its limit"
	}
	return !hope
}

func (x *lifetimes) dispatched(r *request) {
	s := &r.step
	slot := slices.IndexFunc(x.fleet, func(m Member) bool { return m.ID == s.Worker.ID && m.Incarnation == s.Worker.Incarnation })
	if slot < 0 {
		x.t.Fatalf("law 4: %v is not of the fleet", s.Worker)
	}
	if why := x.lacks(r, slot); why != "" {
		x.t.Fatalf("law 4: request %s goes to %v: %s", r.ID, s.Worker, why)
	}
	r.at, r.notUntil = x.core.workers[slot], Never
	x.running[r.at]++
	if s.Receipt.Attempt != len(r.tried)+1 || s.Receipt.Attempt > testAttempts {
		x.t.Fatalf("law 15: attempt %d after %d failed ones", s.Receipt.Attempt, len(r.tried))
	}
	if want := x.index.cached(r.at, r.Request); s.Receipt.Cached != want {
		x.t.Fatalf("law 20: %d tokens of request %s are believed to be cached at %v, the twin says %d", s.Receipt.Cached, r.ID, r.at.ref(), want)
	}
	x.index.insert(r.at, r.Request)
	x.byPlan(r)
}

// byPlan holds what was decided ahead to the plan.
func (x *lifetimes) byPlan(r *request) {
	receipt := &r.step.Receipt
	link := slices.IndexFunc(x.core.links, func(k link) bool { return k.name == receipt.Strategy })
	k := &x.core.links[link]
	if receipt.Plan != 0 && receipt.Plan != k.version || receipt.PlanAge < 0 {
		x.t.Fatalf("receipt %+v, but the plan in force is %d", *receipt, k.version)
	}
	if k.plan == nil || link == testLinks {
		return
	}
	p := k.plan.plan
	index := uint16(slices.IndexFunc(p.Workers, func(w WorkerRef) bool { return w == r.step.Worker }))
	switch receipt.Reason {
	case "table":
		i := len(p.Table.Keys) - 1 // the last entry of a key counts
		for p.Table.Keys[i] != r.Key {
			i--
		}
		if !slices.Contains(p.Table.Of(i), index) {
			x.t.Fatalf("law 7: the table sends key %d to %v", r.Key, r.step.Worker)
		}
		load, total, up := x.crowds(r.at)
		if g := p.Guard; g.Of == InFlight && g.Factor > 0 && load > max(g.Slack, g.Factor*total/up) {
			x.t.Fatalf("law 7: the guard lets %v requests to %v, of %v in flight at %v workers", load, r.step.Worker, total, up)
		}
	case "rest":
		if len(p.Rest.Among) > 0 && !slices.Contains(p.Rest.Among, index) {
			x.t.Fatalf("law 7: the rest sends a request to %v, not one of its workers", r.step.Worker)
		}
	case "hold":
		if h := k.holds.get(r.Key); h == nil || h.worker != r.at {
			x.t.Fatalf("law 7: key %d is not held at %v", r.Key, r.step.Worker)
		}
	}
}

func (x *lifetimes) asked(r *request) {
	k, in := &x.links[r.step.Link], &r.step.Input
	if k.down || k.misses >= missesToSkip && x.now < k.probe {
		x.t.Fatalf("law 9: strategy %d is asked while it is down (%v) or skipped after %d misses", r.step.Link, k.down, k.misses)
	}
	if k.misses >= missesToSkip {
		k.probe = x.now.Add(probeEvery)
	}
	if len(in.Workers) == 0 || !slices.IsSortedFunc(in.Workers, func(a, b Worker) int { return cmp.Compare(a.ID, b.ID) }) {
		x.t.Fatalf("law 4: a strategy is shown the workers %v", in.Workers)
	}
	shown := 0
	for slot := range x.fleet {
		if x.lacks(r, slot) == "" {
			if shown == len(in.Workers) || in.Workers[shown].ID != x.fleet[slot].ID {
				x.t.Fatalf("law 4: a strategy is not shown %v", x.fleet[slot].ID)
			}
			if in.Cached != nil {
				if want := max(0, x.index.cached(x.core.workers[slot], r.Request)); in.Cached[shown] != want {
					x.t.Fatalf("law 20: a strategy is shown %d tokens at %v, the twin says %d", in.Cached[shown], x.fleet[slot].ID, want)
				}
			}
			shown++
		}
	}
	if shown != len(in.Workers) {
		x.t.Fatalf("law 4: a strategy is shown %d workers, %d are eligible", len(in.Workers), shown)
	}
}

func (x *lifetimes) fetching(r *request) {
	if r.fetched || r.Key == 0 {
		x.t.Fatalf("law 15: request %s of key %d fetches again (%v), or for no key", r.ID, r.Key, r.fetched)
	}
	r.fetched = true
}

func (x *lifetimes) waits(r *request) {
	if r.notUntil == Never && x.canGo(r) {
		x.t.Fatalf("law 12: request %s waits and could go", r.ID)
	}
}

func (x *lifetimes) refused(r *request) {
	up, hope := false, x.canGo(r)
	for slot := range x.fleet {
		why := x.lacks(r, slot)
		up = up || why == "" || why == "it is at its limit" || why == "it pauses"
	}
	switch code := r.step.Refusal.Code; code {
	case NoWorker, NoAttempt:
		if up && len(r.tried) < testAttempts {
			x.t.Fatalf("law 12: request %s is refused (%v) while a worker is up", r.ID, code)
		}
	case Paused:
		for slot := range x.fleet {
			if why := x.lacks(r, slot); why == "" || why == "it is at its limit" || why == "it pauses" && !x.core.workers[slot].pause.asked {
				x.t.Fatalf("law 21: request %s is refused for a pause while %v could serve it (%s)", r.ID, x.fleet[slot].ID, why)
			}
		}
		if after := r.step.Refusal.RetryAfter; after <= 0 || after > longestPause*5/4+2*time.Second {
			x.t.Fatalf("law 21: a pause of %v", after)
		}
	case QueueFull:
		ahead := 0
		for _, o := range x.open {
			if o != r && o.step.Kind == DoWait && inOrder(o, r) < 0 {
				ahead++
			}
		}
		tooLong := x.core.expects(ahead+1) > x.core.cfg.MaxWait.Seconds()
		if x.core.Waiting() < testQueue && !tooLong || hope && r.notUntil == Never {
			x.t.Fatalf("law 12: request %s is refused (%v) with %d waiting", r.ID, code, x.core.Waiting())
		}
	}
}

// crowds are the requests in flight, with what peers are likely to have added, as a
// guard sees them that lets one more to a worker: that worker's, and those of all that
// are up.
func (x *lifetimes) crowds(at *worker) (load, total, up float64) {
	at.inFlight-- // as before
	for _, w := range x.core.workers {
		if !w.info.Down {
			total, up = total+x.core.crowd(w), up+1
		}
	}
	load = x.core.crowd(at)
	at.inFlight++
	return load + 1, total + 1, up
}

// books are what no late call may change.
type books struct {
	totals        totals
	lives, queue  int
	arrived       uint64
	events, holds uint64
}

func (x *lifetimes) books() books {
	b := books{totals: x.core.totals, lives: x.core.Lives(), queue: x.core.Waiting(), arrived: x.core.arrived, events: x.core.events}
	for i := range testLinks {
		b.holds += uint64(x.core.Holds(i))
	}
	return b
}

// check compares the core's books with the twin's.
func (x *lifetimes) check() {
	want := totals{}
	for slot, w := range x.core.workers {
		m, peers := &x.fleet[slot], &x.load[slot]
		if w.inFlight != x.running[w] || w.inFlight < 0 || w.queued < 0 {
			x.t.Fatalf("law 3: worker %v has %d in flight and %d tokens queued, the twin says %d", w.ref(), w.inFlight, w.queued, x.running[w])
		}
		if w.load() != w.inFlight+peers.InFlight || w.tokens() != w.queued+peers.QueuedTokens {
			x.t.Fatalf("law 14: worker %v has a load of %d and %d, the peers' part is %+v", w.ref(), w.load(), w.tokens(), *peers)
		}
		if m.Down {
			continue
		}
		want.up++
		if !w.pause.on && (w.pause.room == 0 || w.inFlight < w.pause.room) && (m.Concurrency <= 0 || w.load() < m.Concurrency) && (m.Admit <= 0 || w.inFlight < m.Admit) &&
			(m.KVLimit <= 0 || x.holds(w, slot, "") < float64(m.KVLimit)) {
			want.open++
		}
		want.inFlight += w.load()
		want.queued += w.tokens()
		want.fresh.inFlight += max(0, w.inFlight-w.told.inFlight)
		want.fresh.queued += max(0, w.queued-w.told.queued)
	}
	if x.core.totals != want {
		x.t.Fatalf("law 3: the totals are %+v, the workers sum to %+v", x.core.totals, want)
	}
	if x.core.Lives() != len(x.open) {
		x.t.Fatalf("law 1: %d lives, %d requests are open", x.core.Lives(), len(x.open))
	}
	if x.begun%64 == 0 {
		x.checkStores()
	}
}

// checkStores holds every store to its bound, and queued tokens to their lives.
func (x *lifetimes) checkStores() {
	c := x.core
	queued := map[*worker]int{}
	for _, l := range c.lives {
		if l.state == running {
			queued[l.worker] += l.queued
		}
	}
	for w, n := range x.running {
		if w.queued != queued[w] || w.inFlight != n {
			x.t.Fatalf("law 3: worker %v has %d in flight and %d tokens queued, its requests %d and %d", w.ref(), w.inFlight, w.queued, n, queued[w])
		}
		if w.slot < 0 && n == 0 {
			delete(x.running, w) // gone and idle
		}
	}
	for i := range testLinks {
		if c.Holds(i) > testHolds || len(c.links[i].pending) > maxPending {
			x.t.Fatalf("law 6: %d holds, %d events", c.Holds(i), len(c.links[i].pending))
		}
	}
	if c.Waiting() > testQueue || c.rates.Len() > testKeys || len(c.lives) > x.peak || len(c.peers) > maxPeers || len(c.writes) > maxPending {
		x.t.Fatalf("law 6: queue %d, keys %d, lives %d of %d, peers %d, writes %d", c.Waiting(), c.rates.Len(), len(c.lives), x.peak, len(c.peers), len(c.writes))
	}
	for w := range x.running {
		s := w.prefixes
		if s == nil {
			continue
		}
		if err := s.check(maxIndexBlocks); err != nil || c.index == nil || w.slot < 0 || s.limit > maxIndexBlocks {
			x.t.Fatalf("law 6: %d blocks of %d at worker %v, slot %d: %v", s.count, s.limit, w.ref(), w.slot, err)
		}
	}
}

// finish lets all open requests expire.
func (x *lifetimes) finish() {
	x.now = x.now.Add(10 * time.Minute)
	if expired := x.core.Tick(x.now); expired != len(x.open) {
		x.t.Fatalf("law 2: %d of %d unreported lives expired", expired, len(x.open))
	}
	for w := range x.running {
		if w.inFlight != 0 || w.queued != 0 || w.held != 0 {
			x.t.Fatalf("law 3: idle, but worker %v has %d in flight and %d tokens queued", w.ref(), w.inFlight, w.queued)
		}
	}
	if s := x.books(); s.lives+s.queue+s.totals.inFlight+s.totals.queued != 0 {
		x.t.Fatalf("law 1: idle, but the books say %+v", s)
	}
}

func runLifetimes(t *testing.T, seed uint64, lives int) *lifetimes {
	x := newLifetimes(t, seed)
	x.setFleet()
	for x.begun < lives {
		x.now = x.now.Add(time.Duration(x.rng.IntN(20)) * time.Millisecond)
		x.do()
	}
	x.finish()
	return x
}

// TestLawsOverRandomLifetimes holds the core to its laws over 100,000 lives.
func TestLawsOverRandomLifetimes(t *testing.T) {
	const seeds = 4
	lives := 100_000
	if testing.Short() {
		lives = 20_000
	}
	for seed := range uint64(seeds) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			runLifetimes(t, seed, lives/seeds)
		})
	}
}

// TestSameInputsSameAnswers runs one log twice.
func TestSameInputsSameAnswers(t *testing.T) {
	a, b := runLifetimes(t, 77, 3000), runLifetimes(t, 77, 3000)
	if a.answered != b.answered {
		t.Error("law 16: the same config, seed and calls gave different answers")
	}
}
