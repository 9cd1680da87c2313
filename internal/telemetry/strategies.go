package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Bounds on distinct label values that strategies cause.
const (
	maxStrategies = 64
	maxReasons    = 64
)

type strategies struct {
	names, reasons *vocabulary
	handles        *memo[string, *StrategyMetrics]
	fallbacks      *memo[fallback, prometheus.Counter]
}

type fallback struct{ from, to, reason string }

// StrategyMetrics records one strategy of a chain.
type StrategyMetrics struct {
	reasons   *vocabulary
	decisions *memo[string, prometheus.Counter]
	picks     *memo[string, prometheus.Observer]
	late      prometheus.Counter
}

func newStrategies(r *registry) strategies {
	decisions := r.counter(MetricDecisions, "Decisions, by the strategy that made them and its reason.", labelStrategy, labelReason)
	picks := r.histogram(MetricPickDuration,
		"Time that a strategy in another process took to answer for one request.", pickBuckets, labelStrategy, labelOutcome)
	late := r.counter(MetricDeadlineExceeded, "Answers that a strategy did not give within its deadline.", labelStrategy)
	fallbacks := r.counter(MetricFallbacks,
		"Requests that a strategy should have decided and another one did.", labelFrom, labelTo, labelReason)

	reasons := openVocabulary(maxReasons)
	return strategies{
		names:   openVocabulary(maxStrategies),
		reasons: reasons,
		handles: newMemo(func(name string) *StrategyMetrics {
			return &StrategyMetrics{
				reasons:   reasons,
				decisions: newMemo(func(why string) prometheus.Counter { return decisions.WithLabelValues(name, why) }),
				picks:     newMemo(func(how string) prometheus.Observer { return picks.WithLabelValues(name, how) }),
				late:      late.WithLabelValues(name),
			}
		}),
		fallbacks: newMemo(func(f fallback) prometheus.Counter {
			return fallbacks.WithLabelValues(f.from, f.to, f.reason)
		}),
	}
}

// Strategy returns the handle of a strategy, the built-in one included.
func (m *Metrics) Strategy(name string) *StrategyMetrics {
	return m.strategies.handles.of(m.strategies.names.of(name))
}

// Fallback records that a strategy gave no usable answer, for a reason, and
// which one decided instead.
func (m *Metrics) Fallback(from, to, reason string) {
	s := &m.strategies
	s.fallbacks.of(fallback{s.names.of(from), s.names.of(to), s.reasons.of(reason)}).Inc()
}

// Decided records a decision with its reason (the first 64 reasons that all
// strategies give have a series of their own).
func (s *StrategyMetrics) Decided(reason string) { s.decisions.of(s.reasons.of(reason)).Inc() }

// Picked records how long a call for one request took and what came of it: a
// verdict, "late" or "error".
func (s *StrategyMetrics) Picked(d time.Duration, outcome string) {
	s.picks.of(s.reasons.of(outcome)).Observe(d.Seconds())
}

// DeadlineExceeded records an answer that did not come in time.
func (s *StrategyMetrics) DeadlineExceeded() { s.late.Inc() }

// plugins holds the families with one series or a few per plugin process.
type plugins struct {
	up       *prometheus.GaugeVec
	restarts *prometheus.CounterVec
	reasons  *vocabulary
}

func newPlugins(r *registry) plugins {
	return plugins{
		up:       r.gauge(MetricPluginUp, "1 if the plugin's process runs and answers, else 0.", labelPlugin),
		restarts: r.counter(MetricPluginRestarts, "Restarts of a plugin's process, by reason.", labelPlugin, labelReason),
		reasons:  openVocabulary(maxReasons),
	}
}

// SetPluginUp records whether a plugin's process runs and answers.
func (m *Metrics) SetPluginUp(plugin string, up bool) {
	m.plugins.up.WithLabelValues(clean(plugin)).Set(number(up))
}

// PluginRestarted records a restart with its reason (one or two words).
func (m *Metrics) PluginRestarted(plugin, reason string) {
	m.plugins.restarts.WithLabelValues(clean(plugin), m.plugins.reasons.of(reason)).Inc()
}

// RemovePlugin drops all series of a plugin that is no longer configured.
func (m *Metrics) RemovePlugin(plugin string) {
	labels := prometheus.Labels{labelPlugin: clean(plugin)}
	m.plugins.up.DeletePartialMatch(labels)
	m.plugins.restarts.DeletePartialMatch(labels)
}
