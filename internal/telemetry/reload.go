package telemetry

import "github.com/prometheus/client_golang/prometheus"

// reloads records how the configuration came to be what it is.
type reloads struct {
	ok, failed prometheus.Counter
	valid      prometheus.Gauge
	draining   prometheus.Gauge
}

func newReloads(r *registry) reloads {
	total := r.counter(MetricReloads, "Changes of the configuration or of a strategy's process, by result.", labelResult)
	v := reloads{
		ok: total.WithLabelValues("ok"), failed: total.WithLabelValues("failed"),
		valid:    r.gauge(MetricReloadOK, "1 if the newest configuration is in force, 0 if it was refused and the one before still is.").WithLabelValues(),
		draining: r.gauge(MetricDraining, "Earlier configurations that still have requests.").WithLabelValues(),
	}
	v.valid.Set(1)
	return v
}

// Reloaded records how a change of the configuration ended.
func (m *Metrics) Reloaded(ok bool) {
	if ok {
		m.reloads.ok.Inc()
	} else {
		m.reloads.failed.Inc()
	}
	m.reloads.valid.Set(number(ok))
}

// SetDraining records how many earlier configurations still have requests.
func (m *Metrics) SetDraining(n int) { m.reloads.draining.Set(float64(n)) }
