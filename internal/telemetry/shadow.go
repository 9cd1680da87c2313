package telemetry

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// ShadowMetrics records what a shadow chain would have done.
type ShadowMetrics struct {
	agreed, differed, dropped prometheus.Counter
	own, live                 prometheus.Counter // prompt tokens
	imbalance, liveImbalance  prometheus.Gauge
}

func newShadows(r *registry) *memo[string, *ShadowMetrics] {
	decisions := r.counter(MetricShadowDecisions, "Decisions of shadow chains, by whether they chose the worker that really served.", labelChain, labelAgrees)
	dropped := r.counter(MetricShadowDropped, "Requests that a shadow chain did not decide, or not in time.", labelChain)
	computed := r.counter(MetricShadowComputed, "Estimated prompt tokens that workers have to compute, by a shadow chain's choices and by the live ones.", labelChain, labelChoice)
	imbalance := r.gauge(MetricShadowImbalance, "The most over the mean of requests per worker lately, by a shadow chain's choices and by the live ones.", labelChain, labelChoice)
	return newMemo(func(chain string) *ShadowMetrics {
		return &ShadowMetrics{
			agreed:   decisions.WithLabelValues(chain, strconv.FormatBool(true)),
			differed: decisions.WithLabelValues(chain, strconv.FormatBool(false)),
			dropped:  dropped.WithLabelValues(chain),
			own:      computed.WithLabelValues(chain, "shadow"), live: computed.WithLabelValues(chain, "live"),
			imbalance: imbalance.WithLabelValues(chain, "shadow"), liveImbalance: imbalance.WithLabelValues(chain, "live"),
		}
	})
}

// Shadow returns the handle of a configured shadow chain.
func (m *Metrics) Shadow(chain string) *ShadowMetrics {
	return m.shadows.of(m.strategies.names.of(clean(chain)))
}

// Decided records a decision, whether it is the live one, and the prompt tokens
// that it and the live one leave to be computed, >= 0.
func (s *ShadowMetrics) Decided(agrees bool, own, live int) {
	if agrees {
		s.agreed.Inc()
	} else {
		s.differed.Inc()
	}
	s.own.Add(float64(own))
	s.live.Add(float64(live))
}

// Dropped records a request that was not decided.
func (s *ShadowMetrics) Dropped() { s.dropped.Inc() }

// SetImbalance records the imbalance by the shadow's choices and by the live ones.
func (s *ShadowMetrics) SetImbalance(own, live float64) {
	s.imbalance.Set(own)
	s.liveImbalance.Set(live)
}
