package telemetry

import (
	"math"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// quantile estimates a quantile as Prometheus' histogram_quantile does.
func quantile(q float64, h *dto.Histogram) float64 {
	rank := q * float64(h.GetSampleCount())
	low, below := 0.0, 0.0
	for _, b := range h.GetBucket() {
		if n := float64(b.GetCumulativeCount()); n >= rank && n > below {
			return low + (b.GetUpperBound()-low)*(rank-below)/(n-below)
		}
		low, below = b.GetUpperBound(), float64(b.GetCumulativeCount())
	}
	return math.Inf(1)
}

func TestQuantilesTellShortFromLong(t *testing.T) {
	for _, d := range []time.Duration{20 * time.Millisecond, 45 * time.Second, 400 * time.Second} {
		m := NewMetrics("v1")
		for range 100 {
			m.Inference(OperationChat, "vllm", "m").RequestDone(d, "")
		}
		got := quantile(0.5, gather(t, m)[MetricServerDuration].GetMetric()[0].GetHistogram())
		if want := d.Seconds(); got < want/2 || got > want*2 {
			t.Errorf("median of requests of %v: %v s", d, got)
		}
	}
}

func TestOverheadResolvesBelowAMillisecond(t *testing.T) {
	for _, d := range []time.Duration{20 * time.Microsecond, 80 * time.Microsecond, 200 * time.Microsecond, 800 * time.Microsecond} {
		m := NewMetrics("v1")
		m.Overhead(StageDecide, d)
		for _, metric := range gather(t, m)[MetricOverhead].GetMetric() {
			h := metric.GetHistogram()
			if h.GetSampleCount() == 0 {
				continue
			}
			if got, want := quantile(0.5, h), d.Seconds(); got < want/2.5 || got > want*2.5 {
				t.Errorf("median of an overhead of %v: %v s", d, got)
			}
		}
	}
}

// The bounds of the conventions must stay: dashboards name them.
func TestConventionalBucketBounds(t *testing.T) {
	for name, buckets := range map[string]struct{ have, want []float64 }{
		MetricServerDuration: {durationBuckets, []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}},
		MetricServerTTFT:     {ttftBuckets, []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}},
		MetricServerTPOT:     {tpotBuckets, []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5}},
		MetricTokenUsage:     {tokenBuckets, []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}},
	} {
		for i, want := range buckets.want {
			if i >= len(buckets.have) || math.Abs(buckets.have[i]-want) > 1e-9 {
				t.Errorf("%s: bounds %v do not begin with %v", name, buckets.have, buckets.want)
				break
			}
		}
	}
}

func TestTimePerOutputTokenLeavesTheFirstOut(t *testing.T) {
	m := NewMetrics("v1")
	i := m.Inference(OperationChat, "vllm", "m")
	i.Generated(time.Second, 11)
	i.Generated(time.Second, 1)
	i.Generated(time.Second, 0)
	h := gather(t, m)[MetricServerTPOT].GetMetric()[0].GetHistogram()
	if h.GetSampleCount() != 1 || math.Abs(h.GetSampleSum()-0.1) > 1e-12 {
		t.Errorf("%d samples, sum %v; want one of 0.1", h.GetSampleCount(), h.GetSampleSum())
	}
}
