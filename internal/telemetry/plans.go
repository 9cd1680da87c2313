package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// PlanResult is what became of a plan.
type PlanResult uint8

// Results of planning.
const (
	PlanInstalled PlanResult = iota // in force
	PlanStale                       // not newer than the plan in force
	PlanInvalid                     // refused by the checks
	PlanFailed                      // the planner gave an error or none in time
	numPlanResults
)

var planResults = [numPlanResults]string{"installed", "stale", "invalid", "failed"}

// String returns the result's name as used in metrics and spans.
func (r PlanResult) String() string {
	if r < numPlanResults {
		return planResults[r]
	}
	return Other
}

type plans struct {
	version, keys *prometheus.GaugeVec
	age           *ages
	handles       *memo[[2]string, *PlanMetrics]
}

// PlanMetrics records the plans of one strategy for one pool.
type PlanMetrics struct {
	plans          *plans
	pool, strategy string
	duration       prometheus.Observer
	installs       [numPlanResults]prometheus.Counter
}

func newPlans(r *registry) plans {
	who := []string{labelPool, labelStrategy}
	duration := r.histogram(MetricPlanDuration, "Time that a planner took for a plan.", planBuckets, who...)
	installs := r.counter(MetricPlanInstalls, "Plans made or received, by what became of them.", labelPool, labelStrategy, labelResult)
	p := plans{
		version: r.gauge(MetricPlanVersion, "Version of the plan in force.", who...),
		keys:    r.gauge(MetricPlanKeys, "Keys in the table of the plan in force.", who...),
		age:     r.age(MetricPlanAge, "Time since the plan in force was made.", time.Now, who...),
	}
	p.handles = newMemo(func(k [2]string) *PlanMetrics {
		h := &PlanMetrics{plans: &p, pool: k[0], strategy: k[1], duration: duration.WithLabelValues(k[0], k[1])}
		for i, name := range planResults {
			h.installs[i] = installs.WithLabelValues(k[0], k[1], name)
		}
		return h
	})
	return p
}

// Plan returns the handle for the plans of a configured strategy and pool.
func (m *Metrics) Plan(pool, strategy string) *PlanMetrics {
	return m.plans.handles.of([2]string{clean(pool), clean(strategy)})
}

// Planned records how long the planner took.
func (p *PlanMetrics) Planned(d time.Duration) { p.duration.Observe(d.Seconds()) }

// Dropped records a plan that was not installed, or that was not made.
func (p *PlanMetrics) Dropped(r PlanResult) {
	if r < numPlanResults {
		p.installs[r].Inc()
	}
}

// Installed records that a plan of so many keys, made at a time, is in force.
func (p *PlanMetrics) Installed(version uint64, keys int, made time.Time) {
	p.installs[PlanInstalled].Inc()
	p.plans.version.WithLabelValues(p.pool, p.strategy).Set(float64(version))
	p.plans.keys.WithLabelValues(p.pool, p.strategy).Set(float64(keys))
	p.plans.age.seen(made, p.pool, p.strategy)
}
