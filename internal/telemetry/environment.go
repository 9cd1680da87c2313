package telemetry

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// environment reads the standard OTEL_* variables.
type environment func(string) string

// Signals, as they are spelled in the variables, and their paths in OTLP/HTTP.
const (
	traces  = "TRACES"
	metrics = "METRICS"
)

var otlpPaths = map[string]string{traces: "/v1/traces", metrics: "/v1/metrics"}

// target is where one signal is exported to.
type target struct {
	url  string
	grpc bool // else HTTP with protobuf bodies
}

// target returns where a signal goes; false if it is not exported: an exporter
// or an endpoint has to be set.
func (env environment) target(signal string) (target, bool, error) {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return target{}, false, nil
	}
	own, general := env("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT"), env("OTEL_EXPORTER_OTLP_ENDPOINT")
	on := own != "" || general != ""
	if exporters := env("OTEL_" + signal + "_EXPORTER"); exporters != "" {
		names := strings.Split(strings.ReplaceAll(exporters, " ", ""), ",")
		on = slices.Contains(names, "otlp")
		for _, name := range names {
			if name != "otlp" && name != "none" && (name != "prometheus" || signal != metrics) {
				return target{}, false, fmt.Errorf("OTEL_%s_EXPORTER: unknown exporter %q: use otlp or none", signal, name)
			}
		}
	}
	if !on {
		return target{}, false, nil
	}
	var t target
	switch protocol := env.first("OTEL_EXPORTER_OTLP_"+signal+"_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); protocol {
	case "grpc":
		t = target{url: "http://localhost:4317", grpc: true}
	case "", "http/protobuf":
		t = target{url: "http://localhost:4318" + otlpPaths[signal]}
	default:
		return target{}, false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: unknown protocol %q: use grpc or http/protobuf", protocol)
	}
	name, endpoint := "OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT", own
	if own == "" {
		name, endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT", general
	}
	if endpoint == "" {
		return t, true, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return target{}, false, fmt.Errorf("%s: not an http or https URL: write it like http://localhost:4317", name)
	}
	if own == "" && !t.grpc {
		u = u.JoinPath(otlpPaths[signal])
	}
	t.url = u.String()
	return t, true, nil
}

// first returns the first of the variables that is set.
func (env environment) first(names ...string) string {
	for _, name := range names {
		if v := env(name); v != "" {
			return v
		}
	}
	return ""
}

// count reads a whole number >= 1.
func (env environment) count(name string, unset int) (int, error) {
	text := env(name)
	if text == "" {
		return unset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s: %q is not a whole number of at least 1", name, text)
	}
	return n, nil
}

// millis reads a duration in milliseconds, >= 1.
func (env environment) millis(name string, unset time.Duration) (time.Duration, error) {
	n, err := env.count(name, int(unset.Milliseconds()))
	return time.Duration(n) * time.Millisecond, err
}

// sampler reads OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG; the standard's
// default is parentbased_always_on.
func (env environment) sampler() (sdktrace.Sampler, error) {
	name, text, ratio := strings.ToLower(env("OTEL_TRACES_SAMPLER")), env("OTEL_TRACES_SAMPLER_ARG"), 1.0
	if text != "" && strings.HasSuffix(name, "traceidratio") {
		var err error
		if ratio, err = strconv.ParseFloat(text, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			return nil, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %q is not a ratio from 0 to 1", text)
		}
	}
	switch name {
	case "", "parentbased_always_on":
		return sdktrace.ParentBased(sdktrace.AlwaysSample()), nil
	case "parentbased_always_off":
		return sdktrace.ParentBased(sdktrace.NeverSample()), nil
	case "parentbased_traceidratio":
		return sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio)), nil
	case "always_on":
		return sdktrace.AlwaysSample(), nil
	case "always_off":
		return sdktrace.NeverSample(), nil
	case "traceidratio":
		return sdktrace.TraceIDRatioBased(ratio), nil
	}
	return nil, fmt.Errorf("OTEL_TRACES_SAMPLER: unknown sampler %q: use always_on, always_off, traceidratio or parentbased_ before one of them", name)
}

// resource reads OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME.
func (env environment) resource() ([]attribute.KeyValue, error) {
	var attrs []attribute.KeyValue
	for pair := range strings.SplitSeq(env("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, text, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(text))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %q is not key=value with percent-encoding", pair)
		}
		attrs = append(attrs, attribute.String(key, clean(value)))
	}
	if name := env("OTEL_SERVICE_NAME"); name != "" {
		attrs = append(attrs, attrServiceName.String(clean(name)))
	}
	return attrs, nil
}
