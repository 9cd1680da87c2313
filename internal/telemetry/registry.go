package telemetry

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// MetricDoc describes one metric family.
type MetricDoc struct {
	Name   string
	Type   string // counter, gauge or histogram
	Labels []string
	Help   string
}

// registry makes metrics and remembers what it made, so that the catalogue
// cannot differ from what is served.
type registry struct {
	*prometheus.Registry
	docs []MetricDoc
}

func (r *registry) note(c prometheus.Collector, kind, name, help string, labels []string) {
	r.MustRegister(c)
	r.docs = append(r.docs, MetricDoc{Name: name, Type: kind, Labels: labels, Help: help})
}

func (r *registry) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	r.note(v, "counter", name, help, labels)
	return v
}

func (r *registry) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	r.note(v, "gauge", name, help, labels)
	return v
}

func (r *registry) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	r.note(v, "histogram", name, help, labels)
	return v
}

func (r *registry) age(name, help string, now func() time.Time, labels ...string) *ages {
	a := &ages{desc: prometheus.NewDesc(name, help, labels, nil), now: now, at: map[string]sighting{}}
	r.note(a, "gauge", name, help, labels)
	return a
}

// maxAges bounds the series of one family of ages.
const maxAges = 4096

// ages reports, at scrape time, how long ago things were last seen. What was
// never seen has no series: unknown is not zero.
type ages struct {
	desc *prometheus.Desc
	now  func() time.Time

	mu sync.Mutex
	at map[string]sighting // by joined labels
}

type sighting struct {
	labels []string
	at     time.Time
}

func joined(labels []string) string { return strings.Join(labels, "\x00") }

// seen notes that the thing with these labels was seen at a time.
func (a *ages) seen(at time.Time, labels ...string) {
	key := joined(labels)
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.at[key]; known || len(a.at) < maxAges {
		a.at[key] = sighting{labels, at}
	}
}

// gone drops the series with these labels.
func (a *ages) gone(labels ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.at, joined(labels))
}

// Describe implements prometheus.Collector.
func (a *ages) Describe(out chan<- *prometheus.Desc) { out <- a.desc }

// Collect implements prometheus.Collector.
func (a *ages) Collect(out chan<- prometheus.Metric) {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.at {
		age := max(now.Sub(s.at).Seconds(), 0)
		out <- prometheus.MustNewConstMetric(a.desc, prometheus.GaugeValue, age, s.labels...)
	}
}
