package telemetry

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatewayd/pkg/router"
)

// AttemptOutcome is how one attempt at a worker ended.
type AttemptOutcome uint8

// Outcomes of attempts.
const (
	AttemptOK        AttemptOutcome = iota // the whole answer was relayed
	AttemptConnect                         // no connection could be made
	AttemptStatus                          // the worker answered with an error status
	AttemptBroken                          // the connection broke before the answer ended
	AttemptTimeout                         // the worker took too long
	AttemptCancelled                       // the client went away
	numAttemptOutcomes
)

var attemptOutcomes = [numAttemptOutcomes]string{"ok", "connect", "status", "broken", "timeout", "cancelled"}

// String returns the outcome's name as used in metrics and spans.
func (o AttemptOutcome) String() string {
	if o < numAttemptOutcomes {
		return attemptOutcomes[o]
	}
	return Other
}

// workers holds the families with one series or a few per worker.
type workers struct {
	families []interface {
		DeletePartialMatch(prometheus.Labels) int
	}
	loadAge *ages
	handles *memo[string, *WorkerMetrics]
}

// WorkerMetrics records one worker. A handle stays usable after RemoveWorker,
// but what it records then is not served.
type WorkerMetrics struct {
	id                    string
	attempts              [numAttemptOutcomes]prometheus.Counter
	inFlight, up          prometheus.Gauge
	input, cached, output prometheus.Counter
	guessedIn, guessedOut prometheus.Counter

	openings, pauses prometheus.Counter

	// These have a series only once their figure is known.
	running, waiting, kv *prometheus.GaugeVec
	joules               *prometheus.CounterVec
	loadAge              *ages

	mu     sync.Mutex
	gone   bool
	opened uint64 // as openings says
}

func newWorkers(r *registry) workers {
	attempts := r.counter(MetricAttempts, "Attempts at a worker, by outcome.", labelWorker, labelOutcome)
	inFlight := r.gauge(MetricInFlight, "Requests sent to a worker and not ended.", labelWorker)
	up := r.gauge(MetricWorkerUp, "1 if a worker may be given requests, else 0.", labelWorker)
	running := r.gauge(MetricWorkerRunning, "Sequences in a worker's batch, as it reported.", labelWorker)
	waiting := r.gauge(MetricWorkerWaiting, "Sequences in a worker's queue, as it reported.", labelWorker)
	kv := r.gauge(MetricWorkerKV, "Share of a worker's KV cache in use, as it reported.", labelWorker)
	tokens := r.counter(MetricTokens,
		"Tokens that workers reported: input, those of them read from the prefix cache, and output; input_estimated and output_estimated are the gateway's own counts for streams without usage.", labelWorker, labelType)
	joules := r.counter(MetricEnergy, "Energy that a worker itself reported for requests; no series if it reports none.", labelWorker)
	loadAge := r.age(MetricWorkerLoadAge, "Time since a worker's load was last read.", time.Now, labelWorker)
	w := workers{loadAge: loadAge}
	openings := r.counter(MetricWorkerOpenings, "Times that a worker was taken out of rotation because its requests failed.", labelWorker)
	pauses := r.counter(MetricWorkerPauses, "Requests that a worker refused because it had too much to do (status 429), each of which lets it pause.", labelWorker)
	w.families = append(w.families, attempts, inFlight, up, openings, pauses, running, waiting, kv, tokens, joules)
	w.handles = newMemo(func(id string) *WorkerMetrics {
		h := &WorkerMetrics{
			id:        id,
			inFlight:  inFlight.WithLabelValues(id),
			up:        up.WithLabelValues(id),
			input:     tokens.WithLabelValues(id, "input"),
			cached:    tokens.WithLabelValues(id, "cached"),
			openings:  openings.WithLabelValues(id),
			pauses:    pauses.WithLabelValues(id),
			output:    tokens.WithLabelValues(id, "output"),
			guessedIn: tokens.WithLabelValues(id, "input_estimated"), guessedOut: tokens.WithLabelValues(id, "output_estimated"),
			running: running, waiting: waiting, kv: kv, joules: joules, loadAge: loadAge,
		}
		for o, name := range attemptOutcomes {
			h.attempts[o] = attempts.WithLabelValues(id, name)
		}
		return h
	})
	return w
}

// Worker returns the handle of a worker, making its series if need be. Keep
// the handle; do not ask for it again after RemoveWorker.
func (m *Metrics) Worker(id string) *WorkerMetrics { return m.workers.handles.of(clean(id)) }

// RemoveWorker drops all series of a worker that left.
func (m *Metrics) RemoveWorker(id string) {
	id = clean(id)
	w, ok := m.workers.handles.remove(id)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
	for _, f := range m.workers.families {
		f.DeletePartialMatch(prometheus.Labels{labelWorker: id})
	}
	w.loadAge.gone(id)
}

// Attempt records the end of an attempt at the worker.
func (w *WorkerMetrics) Attempt(o AttemptOutcome) {
	if o < numAttemptOutcomes {
		w.attempts[o].Inc()
	}
}

// SetInFlight records how many requests the worker has in flight, >= 0.
func (w *WorkerMetrics) SetInFlight(n int) { w.inFlight.Set(float64(n)) }

// SetUp records whether the worker may be given requests.
func (w *WorkerMetrics) SetUp(up bool) { w.up.Set(number(up)) }

// Opened records how often the worker's breaker has opened so far.
func (w *WorkerMetrics) Opened(times uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if times > w.opened {
		w.openings.Add(float64(times - w.opened))
	}
	w.opened = times
}

// Paused records that the worker refused a request because it had too much to do.
func (w *WorkerMetrics) Paused() { w.pauses.Inc() }

// Used records the tokens and the energy that the worker reported for a
// request; unknown figures are not recorded.
func (w *WorkerMetrics) Used(u router.Usage) {
	w.input.Add(float64(max(u.PromptTokens, 0)))
	w.output.Add(float64(max(u.OutputTokens, 0)))
	w.cached.Add(float64(max(u.CachedTokens, 0)))
	if u.Joules > 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.gone {
			w.joules.WithLabelValues(w.id).Add(u.Joules)
		}
	}
}

// Estimated records the gateway's own count of the tokens of a request whose
// usage the worker did not report.
func (w *WorkerMetrics) Estimated(input, output int) {
	w.guessedIn.Add(float64(max(input, 0)))
	w.guessedOut.Add(float64(max(output, 0)))
}

// SetLoad records what was read from the worker at a time. A figure that the
// worker does not report has no series.
func (w *WorkerMetrics) SetLoad(l router.Load, read time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return
	}
	w.loadAge.seen(read, w.id)
	for _, f := range []struct {
		vec   *prometheus.GaugeVec
		gauge router.Gauge
	}{{w.running, l.Running}, {w.waiting, l.Waiting}, {w.kv, l.KVUsed}} {
		if f.gauge.Known() {
			f.vec.WithLabelValues(w.id).Set(f.gauge.Value)
		} else {
			f.vec.DeleteLabelValues(w.id)
		}
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
