package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const maxLookupResults = 16

// StateMetrics records the state shared between gateways.
type StateMetrics struct {
	up, peers prometheus.Gauge
	sync      prometheus.Observer
	errors    prometheus.Counter
	age       *ages
	results   *vocabulary
	lookups   *memo[string, prometheus.Counter]
}

func newState(r *registry) *StateMetrics {
	lookups := r.counter(MetricHoldLookups, "Look-ups of holds of keys that this gateway had not seen, by result.", labelResult)
	return &StateMetrics{
		up:      r.gauge(MetricStateUp, "1 if the shared store answers (always, for the one in memory), else 0.").WithLabelValues(),
		peers:   r.gauge(MetricStatePeers, "Other gateways whose state is fresh.").WithLabelValues(),
		sync:    r.histogram(MetricStateSync, "Time of one exchange with the shared store.", syncBuckets).WithLabelValues(),
		errors:  r.counter(MetricStateErrors, "Exchanges with the shared store that failed.").WithLabelValues(),
		age:     r.age(MetricStateAge, "Time since a source of shared state was last read.", time.Now, labelSource),
		results: openVocabulary(maxLookupResults),
		lookups: newMemo(func(result string) prometheus.Counter { return lookups.WithLabelValues(result) }),
	}
}

// SetUp records whether the shared store answers.
func (s *StateMetrics) SetUp(up bool) { s.up.Set(number(up)) }

// SetPeers records how many other gateways have fresh state.
func (s *StateMetrics) SetPeers(n int) { s.peers.Set(float64(n)) }

// Synced records an exchange that went well and its duration.
func (s *StateMetrics) Synced(d time.Duration) { s.sync.Observe(d.Seconds()) }

// SyncFailed records an exchange that failed.
func (s *StateMetrics) SyncFailed() { s.errors.Inc() }

// Seen records that the state of a source (a peer's name, "plan" ...) is as of a time.
func (s *StateMetrics) Seen(source string, asOf time.Time) { s.age.seen(asOf, clean(source)) }

// Gone drops the series of a source that left.
func (s *StateMetrics) Gone(source string) { s.age.gone(clean(source)) }

// HoldLookup records a look-up: "hit", "miss", "late" or "error".
func (s *StateMetrics) HoldLookup(result string) { s.lookups.of(s.results.of(result)).Inc() }
