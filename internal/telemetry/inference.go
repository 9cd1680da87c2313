package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatewayd/pkg/router"
)

// Bounds on distinct label values.
const (
	maxModels     = 512
	maxOperations = 16
	maxProviders  = 16
	maxErrors     = 32
)

// inference holds the gen_ai_* families.
type inference struct {
	operations, providers, models, errors *vocabulary

	handles *memo[inferenceKey, *InferenceMetrics]
}

type inferenceKey struct{ operation, provider, model string }

// InferenceMetrics records requests of one operation, provider and model.
type InferenceMetrics struct {
	errors     *vocabulary
	request    *memo[string, prometheus.Observer]
	attempt    *memo[string, prometheus.Observer]
	ttft, tpot prometheus.Observer
	in, out    prometheus.Observer
}

func newInference(r *registry) inference {
	who := []string{labelOperation, labelProvider, labelModel}
	with := func(more string) []string { return append(who[:len(who):len(who)], more) }
	request := r.histogram(MetricServerDuration,
		"Time from the request's arrival to the end of its answer.", durationBuckets, with(labelError)...)
	ttft := r.histogram(MetricServerTTFT,
		"Time from the request's arrival to its first token.", ttftBuckets, who...)
	tpot := r.histogram(MetricServerTPOT,
		"Time per output token after the first one.", tpotBuckets, who...)
	usage := r.histogram(MetricTokenUsage,
		"Tokens per request, as workers reported them.", tokenBuckets, with(labelTokenType)...)
	attempt := r.histogram(MetricClientDuration,
		"Time of one attempt at a worker.", durationBuckets, with(labelError)...)

	errors := openVocabulary(maxErrors)
	return inference{
		operations: openVocabulary(maxOperations),
		providers:  openVocabulary(maxProviders),
		models:     closedVocabulary(maxModels),
		errors:     errors,
		handles: newMemo(func(k inferenceKey) *InferenceMetrics {
			labels := []string{k.operation, k.provider, k.model}
			by := func(v *prometheus.HistogramVec) *memo[string, prometheus.Observer] {
				return newMemo(func(errorType string) prometheus.Observer {
					return v.WithLabelValues(k.operation, k.provider, k.model, errorType)
				})
			}
			return &InferenceMetrics{
				errors:  errors,
				request: by(request), attempt: by(attempt),
				ttft: ttft.WithLabelValues(labels...), tpot: tpot.WithLabelValues(labels...),
				in:  usage.WithLabelValues(k.operation, k.provider, k.model, "input"),
				out: usage.WithLabelValues(k.operation, k.provider, k.model, "output"),
			}
		}),
	}
}

// AllowModels names models that may appear as label values, up to 512 in all;
// every other model is recorded as "other". Call it with what workers serve,
// never with what clients ask for.
func (m *Metrics) AllowModels(names ...string) { m.inference.models.admit(names...) }

// Inference returns the handle for one operation (OperationChat ...), provider
// (the worker's engine: vllm, sglang, llama_cpp ...) and model.
func (m *Metrics) Inference(operation, provider, model string) *InferenceMetrics {
	i := &m.inference
	return i.handles.of(inferenceKey{i.operations.of(operation), i.providers.of(provider), i.models.of(model)})
}

// RequestDone records a request's whole duration; errorType is "" if it ended
// well, else one word of a small vocabulary, as on its span.
func (i *InferenceMetrics) RequestDone(d time.Duration, errorType string) {
	i.request.of(i.errors.of(errorType)).Observe(d.Seconds())
}

// AttemptDone records the duration of one attempt at a worker.
func (i *InferenceMetrics) AttemptDone(d time.Duration, errorType string) {
	i.attempt.of(i.errors.of(errorType)).Observe(d.Seconds())
}

// FirstToken records the time from arrival to the first token.
func (i *InferenceMetrics) FirstToken(d time.Duration) { i.ttft.Observe(d.Seconds()) }

// Generated records the time per output token: the time from the first token
// to the last one, over all tokens but the first. Fewer than two tokens have
// no such time and are not recorded.
func (i *InferenceMetrics) Generated(decode time.Duration, outputTokens int) {
	if outputTokens > 1 {
		i.tpot.Observe(decode.Seconds() / float64(outputTokens-1))
	}
}

// Used records the tokens that a worker reported for a request.
func (i *InferenceMetrics) Used(u router.Usage) {
	i.in.Observe(float64(u.PromptTokens))
	if u.OutputTokens > 0 {
		i.out.Observe(float64(u.OutputTokens))
	}
}
