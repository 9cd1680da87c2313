package telemetry

import (
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gatewayd/pkg/router"
)

// Stage is a part of the gateway's own time on a request.
type Stage uint8

// Stages, in the order in which a request passes them.
const (
	StageParse   Stage = iota // reading and peeking the body
	StageDecide               // choosing the worker
	StageQueue                // waiting for a free worker
	StageConnect              // getting a connection to the worker
	StageRelay                // the gateway's share of passing the answer on
	numStages
)

var stageNames = [numStages]string{"parse", "decide", "queue", "connect", "relay"}

// Metrics records everything that /metrics serves. Its methods and those of
// its handles are safe for concurrent use, do not block and, once a series
// exists, do not allocate. Durations are wall-clock durations, >= 0.
type Metrics struct {
	// State records the shared state of the fleet of gateways.
	State *StateMetrics

	registry *registry
	requests *memo[requestKey, prometheus.Counter]
	retries  prometheus.Counter
	denied   prometheus.Counter
	refusals *memo[router.RefusalCode, prometheus.Counter]
	overhead [numStages]prometheus.Observer
	spans    *prometheus.CounterVec
	recorded [numRecorded]prometheus.Counter

	inference  inference
	workers    workers
	pools      *memo[string, *PoolMetrics]
	strategies strategies
	plans      plans
	plugins    plugins
	shadows    *memo[string, *ShadowMetrics]
	reloads    reloads
}

type requestKey struct {
	outcome router.Outcome
	code    int
}

// NewMetrics returns metrics on a registry of their own. The version is the
// program's, for gatewayd_build_info.
func NewMetrics(version string) *Metrics {
	r := &registry{Registry: prometheus.NewRegistry()}
	r.gauge(MetricBuildInfo, "Always 1; the labels say what is running.", labelVersion, labelGo).
		WithLabelValues(clean(version), runtime.Version()).Set(1)
	requests := r.counter(MetricRequests, "Requests ended, by outcome and HTTP status code.", labelOutcome, labelCode)
	refusals := r.counter(MetricRefusals, "Requests for which no worker was found, by reason.", labelReason)
	overhead := r.histogram(MetricOverhead, "The gateway's own time on a request, by stage.", overheadBuckets, labelStage)
	m := &Metrics{
		registry: r,
		requests: newMemo(func(k requestKey) prometheus.Counter {
			code := Other
			if k.code != 0 {
				code = strconv.Itoa(k.code)
			}
			return requests.WithLabelValues(outcomeName(k.outcome), code)
		}),
		denied:  r.counter(MetricRetriesDenied, "Further attempts that were not made because too many had been made in the last seconds.").WithLabelValues(),
		retries: r.counter(MetricRetries, "Attempts after the first one of a request.").WithLabelValues(),
		refusals: newMemo(func(c router.RefusalCode) prometheus.Counter {
			return refusals.WithLabelValues(refusalName(c))
		}),
	}
	for s, name := range stageNames {
		m.overhead[s] = overhead.WithLabelValues(name)
	}
	m.pools = newPools(r)
	m.inference = newInference(r)
	m.workers = newWorkers(r)
	m.strategies = newStrategies(r)
	m.plugins = newPlugins(r)
	m.plans = newPlans(r)
	m.State = newState(r)
	m.recorded = newRecorded(r)
	m.shadows = newShadows(r)
	m.reloads = newReloads(r)
	m.spans = r.counter(MetricSpansDropped, "Spans that never reached the collector, by reason.", labelReason)
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// maxScrapes bounds concurrent scrapes; more are answered with 503.
const maxScrapes = 4

// Handler serves the metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
}

// RequestDone records the end of a request with the HTTP status sent to the
// client; any code outside 100..599 is recorded as "other".
func (m *Metrics) RequestDone(o router.Outcome, code int) {
	if code < 100 || code > 599 {
		code = 0
	}
	m.requests.of(requestKey{min(o, router.Expired+1), code}).Inc()
}

// Retried records an attempt after a request's first one.
func (m *Metrics) Retried() { m.retries.Inc() }

// RetryDenied records that a request got no further attempt because the budget
// for them was used up.
func (m *Metrics) RetryDenied() { m.denied.Inc() }

// Refused records that no worker was given to a request.
func (m *Metrics) Refused(c router.RefusalCode) { m.refusals.of(min(c, router.Paused+1)).Inc() }

// Overhead records the gateway's own time in one stage of a request.
func (m *Metrics) Overhead(s Stage, d time.Duration) {
	if s < numStages {
		m.overhead[s].Observe(d.Seconds())
	}
}

// spansDropped counts spans lost for a reason: "queue_full", "export",
// "shutdown" or "invalid".
func (m *Metrics) spansDropped(reason string, n int) {
	m.spans.WithLabelValues(reason).Add(float64(n))
}

func outcomeName(o router.Outcome) string {
	if o > router.Expired {
		return Other
	}
	return o.String()
}

func refusalName(c router.RefusalCode) string {
	if c < router.NoWorker || c > router.Paused {
		return Other
	}
	return c.String()
}
