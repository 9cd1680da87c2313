package worker

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatewayd/benchlab/engine"
)

const (
	// maxCatchUp bounds the steps between two looks at the commands.
	maxCatchUp = 64
	// maxLag is how far, in wall time, the schedule may lie behind the clock
	// before the next step starts from the clock instead.
	maxLag = 250 * time.Millisecond
)

// actor owns the engine. Only its goroutine touches it.
type actor struct {
	engine  *engine.Engine
	clock   Clock
	origin  time.Time
	speed   float64
	jobs    map[uint64]*job // by engine request ID, until they end
	metrics *metrics
}

// now is the time in the engine.
func (a *actor) now() time.Duration {
	return time.Duration(float64(a.clock.Now().Sub(a.origin)) * a.speed)
}

// wall turns a span of engine time into wall time.
func (a *actor) wall(d time.Duration) time.Duration { return time.Duration(float64(d) / a.speed) }

// observe books a span of engine time, in seconds of wall time. A span can be
// negative only if the schedule lies behind the clock.
func (a *actor) observe(o prometheus.Observer, from, to time.Duration) {
	o.Observe(max(0, a.wall(to-from).Seconds()))
}

// run obeys commands and finishes steps until closing is closed.
func (a *actor) run(commands <-chan func(*actor), closing <-chan struct{}) {
	for {
		a.catchUp()
		fire, stop := a.nextEnd()
		select {
		case <-closing:
			stop()
			a.dropAll()
			return
		case command := <-commands:
			a.catchUp() // what ended before the command comes before it
			command(a)
		case <-fire:
		}
		stop()
	}
}

// nextEnd returns a timer for the end of the step in progress.
func (a *actor) nextEnd() (fire <-chan time.Time, stop func() bool) {
	end, busy := a.engine.End()
	if !busy {
		return nil, func() bool { return false }
	}
	return a.clock.Timer(max(0, a.wall(end-a.now())+1))
}

// catchUp finishes the steps whose time has come and starts the next one where
// the last one ended.
func (a *actor) catchUp() {
	for range maxCatchUp {
		now := a.now()
		start := now
		if end, busy := a.engine.End(); busy {
			if end > now {
				break
			}
			a.finish(end)
			if a.wall(now-end) <= maxLag {
				start = end
			}
		}
		if _, busy := a.engine.Start(start, start); !busy {
			break
		}
	}
	a.publish()
}

// finish tells the jobs what the step that ended at end brought them.
func (a *actor) finish(end time.Duration) {
	events := a.engine.Finish(end)
	a.publish() // who gets an answer may ask for the metrics at once
	for _, e := range events {
		if j := a.jobs[e.ID]; j != nil && e.Kind == engine.FirstToken {
			a.observe(a.metrics.firstToken, j.arrived, end)
			j.setCached(e.Cached)
			j.last = end
		}
	}
	for id, tokens := range a.engine.Producing() {
		j := a.jobs[id]
		if j == nil {
			continue
		}
		if tokens > 1 {
			a.observe(a.metrics.interToken, j.last, end)
		}
		j.last = end
		j.advance(tokens)
	}
	for _, e := range events {
		j := a.jobs[e.ID]
		if j == nil || e.Kind != engine.Finished {
			continue
		}
		delete(a.jobs, e.ID)
		a.observe(a.metrics.endToEnd, j.arrived, end)
		a.observe(a.metrics.queueTime, j.arrived, e.Admitted)
		a.metrics.success.WithLabelValues(j.reason).Inc()
		j.setCached(e.Cached)
		j.end(nil)
	}
}

// submit hands a job to the engine.
func (a *actor) submit(j *job) error {
	j.arrived = a.now()
	if err := a.engine.Submit(j.arrived, j.request); err != nil {
		return err
	}
	a.jobs[j.request.ID] = j
	return nil
}

// cancel ends a job that nobody waits for any more.
func (a *actor) cancel(j *job) {
	if a.engine.Cancel(a.now(), j.request.ID) {
		delete(a.jobs, j.request.ID)
		a.metrics.success.WithLabelValues("abort").Inc()
		j.end(errClosed)
	}
}

func (a *actor) dropAll() {
	for _, j := range a.jobs {
		j.end(errClosed)
	}
	clear(a.jobs)
}

// publish shows the engine's state to the scraper.
func (a *actor) publish() {
	stats := a.engine.Stats(a.now())
	a.metrics.stats.Store(&stats)
}
