package worker

import (
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gatewayd/benchlab/engine"
)

// metrics has vLLM's names and labels. The actor stores the engine's state
// after each step, so that a scrape waits for nobody.
type metrics struct {
	registry *prometheus.Registry
	stats    atomic.Pointer[engine.Stats]
	figures  []figure

	firstToken, interToken, endToEnd, queueTime prometheus.Observer
	success                                     *prometheus.CounterVec
}

// figure is one metric that is read off the engine's state.
type figure struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(*engine.Stats) float64
}

func newMetrics(model string, p engine.Profile) *metrics {
	labels := prometheus.Labels{"model_name": model, "engine": "0"}
	m := &metrics{registry: prometheus.NewRegistry()}
	for _, f := range []struct {
		name, help string
		kind       prometheus.ValueType
		read       func(*engine.Stats) float64
	}{
		{"num_requests_running", "Number of requests in model execution batches.", prometheus.GaugeValue,
			func(s *engine.Stats) float64 { return float64(s.Running) }},
		{"num_requests_waiting", "Number of requests waiting to be processed.", prometheus.GaugeValue,
			func(s *engine.Stats) float64 { return float64(s.Waiting) }},
		{"kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", prometheus.GaugeValue,
			func(s *engine.Stats) float64 { return s.KVUsed }},
		{"prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.", prometheus.CounterValue,
			func(s *engine.Stats) float64 { return float64(s.QueryTokens) }},
		{"prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.", prometheus.CounterValue,
			func(s *engine.Stats) float64 { return float64(s.HitTokens) }},
		{"num_preemptions_total", "Cumulative number of preemption from the engine.", prometheus.CounterValue,
			func(s *engine.Stats) float64 { return float64(s.Preemptions) }},
		{"prompt_tokens_total", "Number of prefill tokens processed.", prometheus.CounterValue,
			func(s *engine.Stats) float64 { return float64(s.PromptTokens) }},
		{"generation_tokens_total", "Number of generation tokens processed.", prometheus.CounterValue,
			func(s *engine.Stats) float64 { return float64(s.GeneratedTokens) }},
	} {
		m.figures = append(m.figures, figure{prometheus.NewDesc("vllm:"+f.name, f.help, nil, labels), f.kind, f.read})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Observer {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vllm:" + name, Help: help, ConstLabels: labels, Buckets: buckets})
		m.registry.MustRegister(h)
		return h
	}
	// Buckets of vLLM's histograms.
	firstTokenBuckets := []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	interTokenBuckets := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBuckets := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	m.firstToken = histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", firstTokenBuckets)
	m.interToken = histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", interTokenBuckets)
	m.endToEnd = histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", requestBuckets)
	m.queueTime = histogram("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", requestBuckets)
	m.success = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "vllm:request_success_total", Help: "Count of successfully processed requests.", ConstLabels: labels,
	}, []string{"finished_reason"})
	for _, reason := range []string{"stop", "length", "abort"} {
		m.success.WithLabelValues(reason)
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "vllm:cache_config_info", Help: "Information of the LLMEngine CacheConfig",
		ConstLabels: prometheus.Labels{
			"engine": "0", "block_size": strconv.Itoa(p.BlockTokens), "num_gpu_blocks": strconv.Itoa(p.KVBlocks),
		},
	})
	info.Set(1)
	m.registry.MustRegister(m, m.success, info)
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	for _, f := range m.figures {
		out <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	if stats := m.stats.Load(); stats != nil {
		for _, f := range m.figures {
			out <- prometheus.MustNewConstMetric(f.desc, f.kind, f.read(stats))
		}
	}
}
