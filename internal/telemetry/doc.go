// Package telemetry holds the gateway's spans and metrics: every name, the
// OpenTelemetry set-up, the propagation of trace context and the Prometheus
// registry.
//
// Traces and pushed metrics follow the standard OTEL_* variables and are off
// when none of them asks for an exporter; /metrics is always there. Nothing
// global is set: who needs a tracer gets it from Telemetry.
//
// Reading order: names.go (every span, attribute and metric name), setup.go,
// exporters.go and queue.go (where spans go), propagation.go, server.go,
// decision.go, attempt.go, planning.go and plugin.go (the spans), metrics.go,
// inference.go, workers.go, strategies.go and state.go (the metrics),
// registry.go and labels.go (how series stay few and cheap), catalogue.go.
//
// No span and no metric carries prompt text, answers, keys, query strings or
// credentials. Whatever comes from a client, a worker or a plugin is cut to a
// bounded length, and as a label to a bounded number of values.
package telemetry
