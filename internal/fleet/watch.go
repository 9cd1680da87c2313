package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"gatewayd/pkg/router"
)

// watch starts the goroutines that watch one worker until ctx ends.
func (f *Fleet) watch(ctx context.Context, w *worker) {
	p := f.options.Probe
	f.running.Go(func() {
		repeat(ctx, w.recheck, min(quick, p.Interval), func() time.Duration { return f.checkHealth(ctx, w) })
	})
	f.running.Go(func() {
		repeat(ctx, w.relook, min(time.Second, p.ModelsInterval), func() time.Duration { return f.readModels(ctx, w) })
	})
	f.running.Go(func() {
		repeat(ctx, w.rescrape, min(quick, p.MetricsInterval), func() time.Duration { return f.readMetrics(ctx, w) })
	})
}

// repeat calls step until ctx ends: at once, after the delay that step returns,
// and when woken, but never sooner than gap after the last call.
func repeat(ctx context.Context, woken <-chan struct{}, gap time.Duration, step func() time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-woken:
		case <-timer.C:
		}
		delay := step()
		select {
		case <-ctx.Done():
			return
		case <-time.After(gap):
		}
		timer.Reset(max(delay-gap, 0))
	}
}

// checkHealth checks a worker once and returns when to do it again.
func (f *Fleet) checkHealth(ctx context.Context, w *worker) time.Duration {
	p, spec := f.options.Probe, w.specification()
	err := f.client.check(ctx, &spec, p.Timeout)
	if ctx.Err() != nil {
		return 0
	}
	if err == nil && w.doubtful() {
		f.identify(ctx, w)
	}
	var changed, up bool
	if err == nil {
		changed, up = w.passed(now(), p, now().Sub(f.began) >= p.SlowStart)
	} else {
		changed = w.failed(err, p)
		if w.hopeless(p.Failures) {
			f.options.Logger.Warn("worker does not come up", "worker", spec.Worker.ID, "error", err)
		}
	}
	if up {
		wake(w.relook)
		wake(w.rescrape)
	}
	if w.ticked(now()) || changed {
		f.changed()
	}
	return w.checkDelay(now(), p)
}

// identify asks a worker who it is: by its metrics, if it has any.
func (f *Fleet) identify(ctx context.Context, w *worker) {
	spec, at := w.specification(), now()
	path, sample, err := f.client.find(ctx, &spec, f.options.Probe.MetricsTimeout)
	if ctx.Err() != nil {
		return
	}
	w.metricsAt(path)
	if err == nil && w.sampled(sample, at) || err != nil && w.nameless() {
		f.changed()
	}
}

// readModels reads a worker's model list once and returns when to do it again.
func (f *Fleet) readModels(ctx context.Context, w *worker) time.Duration {
	p, spec := f.options.Probe, w.specification()
	l, err := f.client.models(ctx, &spec, p.Timeout)
	if ctx.Err() != nil {
		return 0
	}
	if err == nil && w.listed(l) {
		f.changed()
	}
	if news := w.relooked(err); news {
		f.options.Logger.Warn("worker's model list cannot be read", "worker", spec.Worker.ID, "error", err)
	}
	return spread(p.ModelsInterval)
}

// unmetered is how many intervals to wait when a worker has no metrics. When they are
// too large to be read, which takes the time of both all the same, it is twice as many
// with each reading, from 2 to 2^longWait.
const (
	unmetered = 15
	longWait  = 6
)

// readMetrics reads a worker's metrics once and returns when to do it again.
func (f *Fleet) readMetrics(ctx context.Context, w *worker) time.Duration {
	p, spec, at := f.options.Probe, w.specification(), now()
	path, ready := w.ready()
	if !ready {
		return spread(p.MetricsInterval) // woken when it comes up
	}
	sample, err := f.client.metrics(ctx, &spec, path, p.MetricsTimeout)
	if ctx.Err() != nil {
		return 0
	}
	if err == nil {
		if w.sampled(sample, at) {
			f.changed()
		}
		return spread(p.MetricsInterval)
	}
	delay := spread(p.MetricsInterval)
	var status statusError
	switch {
	case errors.As(err, &status):
		delay = unmetered * p.MetricsInterval
	case errors.Is(err, errLarge):
		delay = p.MetricsInterval << min(w.tooLarge(), longWait)
		err = fmt.Errorf("%w; they are read again in %v", err, delay)
	}
	if w.unsampled(err) {
		f.options.Logger.Info("worker's metrics cannot be read; its load is known from this gateway's requests", "worker", spec.Worker.ID, "error", err)
	}
	return delay
}

// spread varies an interval by a tenth, so that workers are not all asked at
// once, nor one worker by all gateways.
func spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}

func now() router.Time { return router.Time(time.Now().UnixNano()) }
