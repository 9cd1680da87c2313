package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// PoolMetrics records one pool.
type PoolMetrics struct {
	depth, leader prometheus.Gauge
	wait          prometheus.Observer
	blocks, holds prometheus.Counter
	ratio         func() prometheus.Gauge // makes the series
}

func newPools(r *registry) *memo[string, *PoolMetrics] {
	depth := r.gauge(MetricQueue, "Requests waiting for a worker in the gateway.", labelPool)
	wait := r.histogram(MetricQueueWait, "Time that requests waited for a worker.", queueBuckets, labelPool)
	leader := r.gauge(MetricLeader, "1 if this gateway plans for the pool, else 0.", labelPool)
	evictions := r.counter(MetricEvictions, "What a pool forgot because its memory is bounded: blocks believed to be in a worker's prefix cache, holds of keys.", labelPool, labelWhat)
	ratio := r.gauge(MetricTokensPerByte, "Prompt tokens that a byte of text makes, as learned from workers' usage; no series while nothing is learned and a quarter is assumed.", labelPool)
	return newMemo(func(pool string) *PoolMetrics {
		return &PoolMetrics{
			depth:  depth.WithLabelValues(pool),
			wait:   wait.WithLabelValues(pool),
			leader: leader.WithLabelValues(pool),
			blocks: evictions.WithLabelValues(pool, "blocks"),
			holds:  evictions.WithLabelValues(pool, "holds"),
			ratio:  func() prometheus.Gauge { return ratio.WithLabelValues(pool) },
		}
	})
}

// Pool returns the handle of a configured pool.
func (m *Metrics) Pool(name string) *PoolMetrics { return m.pools.of(clean(name)) }

// AddQueued records that so many more requests wait, or fewer. All that have
// waited must be taken off again.
func (p *PoolMetrics) AddQueued(n int) { p.depth.Add(float64(n)) }

// Waited records how long a request waited that has left the queue.
func (p *PoolMetrics) Waited(d time.Duration) { p.wait.Observe(d.Seconds()) }

// SetLeader records whether this gateway plans for the pool.
func (p *PoolMetrics) SetLeader(leads bool) { p.leader.Set(number(leads)) }

// Evicted records how many more blocks and holds were forgotten to make room.
func (p *PoolMetrics) Evicted(blocks, holds uint64) {
	p.blocks.Add(float64(blocks))
	p.holds.Add(float64(holds))
}

// SetTokensPerByte records the ratio that was learned.
func (p *PoolMetrics) SetTokensPerByte(ratio float64) { p.ratio().Set(ratio) }
