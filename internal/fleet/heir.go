package fleet

import "weak"

// heirs returns, for a fleet that is to take another one's place, workers that
// know what that one knows of the same ones at the same addresses. Of a worker at
// another address they know what life it was in. From then on what an operator
// drains here is drained there as well.
func (f *Fleet) heirs(next *Fleet) map[string]*worker {
	out := map[string]*worker{}
	if f == nil {
		return out
	}
	f.setting.Lock()
	defer f.setting.Unlock()
	f.next = weak.Make(next)
	for id, w := range *f.workers.Load() {
		out[id] = w.heir()
	}
	return out
}

func (w *worker) heir() *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := newWorker(w.spec, w.life)
	h.health, h.been, h.breaker = w.health, w.been, w.breaker
	h.ramp, h.drained = w.ramp, w.drained
	h.listing, h.relist = w.listing, w.relist
	h.sample, h.gauges, h.kvTokens, h.metrics = w.sample, w.gauges, w.kvTokens, w.metrics
	h.trouble, h.scraped, h.large, h.unlisted = w.trouble, w.scraped, w.large, w.unlisted
	return h
}

// found returns, likewise, what sources found last and what was registered.
func (f *Fleet) found() ([]*find, []registration) {
	if f == nil {
		return nil, nil
	}
	f.setting.Lock()
	defer f.setting.Unlock()
	out := make([]*find, len(f.finds))
	for i, known := range f.finds {
		copied := *known
		out[i] = &copied
	}
	return out, f.registered
}

// know makes the journal begin with what the workers are, so that it tells of
// nothing that was logged before.
func (j *journal) know(workers map[string]*worker) {
	j.seen = make(map[string]Status, len(workers))
	for id, w := range workers {
		j.seen[id] = w.status()
	}
}

// Checked reports whether every worker has been found up, with its models read,
// or has failed to be.
func (f *Fleet) Checked() bool {
	for _, w := range *f.workers.Load() {
		if !w.checked() {
			return false
		}
	}
	return true
}

func (w *worker) checked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.health.up && w.relist && w.unlisted == nil {
		return false
	}
	return w.been || w.health.bad > 0
}
