package fleet

import (
	"maps"
	"slices"
	"time"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

// sampled takes in one reading of metrics that was asked for at now.
func (w *worker) sampled(s Sample, now router.Time) bool {
	return w.update(func() {
		w.identified(s.Start, s.Work())
		w.sample, w.scraped, w.large = s.since(w.sample), nil, 0
		see(&w.gauges.Running, s.Running, now)
		see(&w.gauges.Waiting, s.Waiting, now)
		see(&w.gauges.KVUsed, s.KVUsed, now)
		if s.KVTokens.Known && s.KVTokens.Value < maxKVTokens {
			w.kvTokens = int(s.KVTokens.Value)
		}
	})
}

// see sets a gauge to a newer figure; it is left to grow old if there is none.
func see(g *router.Gauge, f Figure, now router.Time) {
	if f.Known && now > g.At {
		*g = router.Gauge{Value: f.Value, At: now}
	}
}

// maxKVTokens is the largest capacity of a KV cache that is believed.
const maxKVTokens = 1e12

// unsampled takes in that metrics could not be read, and reports whether that
// is news: the figures grow old.
func (w *worker) unsampled(err error) (news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	news = w.scraped == nil
	w.scraped = err
	return news
}

// tooLarge takes in that the metrics were too large to be read, and returns how often
// in a row they were.
func (w *worker) tooLarge() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.large++
	return w.large
}

// nameless takes in that a healthy worker does not say who it is.
func (w *worker) nameless() bool {
	return w.update(func() { w.identified(Figure{}, Figure{}) })
}

// identified takes in who the worker says it is. A new life may serve other
// models, and the figures are those of the old one.
func (w *worker) identified(start, work Figure) {
	if !w.life.observe(start, work) {
		return
	}
	w.relist = true
	w.gauges = Gauges{router.Unknown, router.Unknown, router.Unknown}
	w.sample = Sample{}
	wake(w.relook)
}

// listed takes in the worker's model list.
func (w *worker) listed(l *listing) bool {
	return w.update(func() {
		if w.relist || !w.listing.same(l) {
			w.listing, w.relist = l, false
		}
	})
}

// relooked takes in how a reading of the model list ended, and reports whether
// a failure is news: one of a worker that is up and could be read before.
func (w *worker) relooked(err error) (news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	news = err != nil && w.unlisted == nil && w.health.up
	if w.health.up {
		w.unlisted = err
	}
	return news
}

// ticked lets time pass for the breaker and the slow start.
func (w *worker) ticked(now router.Time) bool {
	return w.update(func() {
		w.breaker.tick(now)
		w.ramp.tick(now)
	})
}

// drain says whether an operator keeps new requests away.
func (w *worker) drain(on bool) bool { return w.update(func() { w.drained = on }) }

// checkDelay returns when to check the worker's health again.
func (w *worker) checkDelay(now router.Time, p config.Probe) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	delay := w.health.delay(spread(p.Interval), p.Failures)
	if d, ok := w.breaker.delay(now); ok {
		delay = min(delay, d)
	}
	if d, ok := w.ramp.delay(now); ok {
		delay = min(delay, d)
	}
	return delay
}

// doubtful reports whether the worker must be asked who it is.
func (w *worker) doubtful() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life.doubtful()
}

// ready reports whether the worker is up and known, and where its metrics are.
func (w *worker) ready() (metrics string, ready bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.metrics, w.health.up && !w.life.doubtful()
}

// metricsAt takes in where the worker's metrics are.
func (w *worker) metricsAt(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.metrics = path
}

// hopeless reports whether a worker that never was up has failed just as many
// checks in a row as would take it down.
func (w *worker) hopeless(failures int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.been && w.health.bad == failures
}

func (w *worker) specification() Spec {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spec
}

// moveTo takes a new spec for the same address, and reports whether it is one and
// says anything new.
func (w *worker) moveTo(s Spec) (stays, differs bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.spec.URL.String() != s.URL.String() || w.spec.Rank != s.Rank {
		return false, false
	}
	if w.spec.same(&s) {
		w.spec.Worker.Carbon = s.Worker.Carbon
		return true, false
	}
	if !slices.Equal(w.spec.Models, s.Models) || !maps.Equal(w.spec.Names, s.Names) {
		w.listing, w.relist = staticListing(s.Models), true
	}
	w.spec = s
	wake(w.recheck)
	wake(w.relook)
	return true, true
}

// nextLife returns the life that follows when the worker moves to another
// address; w may be nil.
func (w *worker) nextLife() life {
	if w == nil {
		return life{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return life{incarnation: w.life.incarnation, suspect: true}
}
