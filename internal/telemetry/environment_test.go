package telemetry

import (
	"strings"
	"testing"
)

func TestTarget(t *testing.T) {
	for _, test := range []struct {
		env    string // name=value, separated by spaces; OTEL_ is left out
		signal string
		want   string // "off", "grpc URL", "http URL" or a part of the error
	}{
		{"", traces, "off"},
		{"SERVICE_NAME=x TRACES_SAMPLER=always_on", traces, "off"},
		{"EXPORTER_OTLP_ENDPOINT=http://c:4318", traces, "http http://c:4318/v1/traces"},
		{"EXPORTER_OTLP_ENDPOINT=http://c:4318/in/", traces, "http http://c:4318/in/v1/traces"},
		{"EXPORTER_OTLP_ENDPOINT=https://c EXPORTER_OTLP_PROTOCOL=grpc", traces, "grpc https://c"},
		{"EXPORTER_OTLP_ENDPOINT=http://c EXPORTER_OTLP_TRACES_ENDPOINT=http://d/t", traces, "http http://d/t"},
		{"EXPORTER_OTLP_ENDPOINT=http://c EXPORTER_OTLP_TRACES_ENDPOINT=http://d/t", metrics, "http http://c/v1/metrics"},
		{"EXPORTER_OTLP_TRACES_ENDPOINT=http://d", metrics, "off"},
		{"EXPORTER_OTLP_ENDPOINT=http://c EXPORTER_OTLP_PROTOCOL=grpc EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", traces, "http http://c/v1/traces"},
		{"TRACES_EXPORTER=otlp", traces, "http http://localhost:4318/v1/traces"},
		{"TRACES_EXPORTER=otlp EXPORTER_OTLP_PROTOCOL=grpc", traces, "grpc http://localhost:4317"},
		{"TRACES_EXPORTER=none EXPORTER_OTLP_ENDPOINT=http://c", traces, "off"},
		{"METRICS_EXPORTER=prometheus EXPORTER_OTLP_ENDPOINT=http://c", metrics, "off"},
		{"METRICS_EXPORTER=prometheus,otlp EXPORTER_OTLP_ENDPOINT=http://c", metrics, "http http://c/v1/metrics"},
		{"SDK_DISABLED=TRUE EXPORTER_OTLP_ENDPOINT=http://c", traces, "off"},
		{"TRACES_EXPORTER=zipkin", traces, `OTEL_TRACES_EXPORTER: unknown exporter "zipkin"`},
		{"TRACES_EXPORTER=prometheus", traces, `OTEL_TRACES_EXPORTER: unknown exporter "prometheus"`},
		{"EXPORTER_OTLP_ENDPOINT=http://c EXPORTER_OTLP_PROTOCOL=http/json", traces, `unknown protocol "http/json"`},
		{"EXPORTER_OTLP_ENDPOINT=c:4317", traces, "OTEL_EXPORTER_OTLP_ENDPOINT: not an http or https URL"},
		{"EXPORTER_OTLP_TRACES_ENDPOINT=http://", traces, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: not an http"},
	} {
		to, on, err := variables(test.env).target(test.signal)
		got := "off"
		switch {
		case err != nil:
			got = err.Error()
		case on && to.grpc:
			got = "grpc " + to.url
		case on:
			got = "http " + to.url
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s of %q: %s, want %s", test.signal, test.env, got, test.want)
		}
	}
}

func variables(list string) environment {
	env := map[string]string{}
	for pair := range strings.FieldsSeq(list) {
		name, value, _ := strings.Cut(pair, "=")
		env["OTEL_"+name] = value
	}
	return func(name string) string { return env[name] }
}

func TestSampler(t *testing.T) {
	for env, want := range map[string]string{
		"":                                      "ParentBased{root:AlwaysOnSampler",
		"TRACES_SAMPLER=ALWAYS_ON":              "AlwaysOnSampler",
		"TRACES_SAMPLER=always_off":             "AlwaysOffSampler",
		"TRACES_SAMPLER=parentbased_always_on":  "ParentBased{root:AlwaysOnSampler",
		"TRACES_SAMPLER=parentbased_always_off": "ParentBased{root:AlwaysOffSampler",
		"TRACES_SAMPLER=traceidratio TRACES_SAMPLER_ARG=0.25":             "TraceIDRatioBased{0.25}",
		"TRACES_SAMPLER=parentbased_traceidratio TRACES_SAMPLER_ARG=0.01": "ParentBased{root:TraceIDRatioBased{0.01}",
		"TRACES_SAMPLER=traceidratio TRACES_SAMPLER_ARG=2":                "not a ratio",
		"TRACES_SAMPLER=traceidratio TRACES_SAMPLER_ARG=NaN":              "not a ratio",
		"TRACES_SAMPLER=jaeger_remote":                                    "unknown sampler",
	} {
		got := ""
		if s, err := variables(env).sampler(); err != nil {
			got = err.Error()
		} else {
			got = s.Description()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", env, got, want)
		}
	}
}

func TestResource(t *testing.T) {
	for env, want := range map[string]string{
		"":               "service.name=gatewayd",
		"SERVICE_NAME=a": "service.name=a",
		"RESOURCE_ATTRIBUTES=service.name=b,team=x%20y":             "service.name=b team=x y",
		"RESOURCE_ATTRIBUTES=service.name=b,team=z, SERVICE_NAME=a": "service.name=a team=z",
		"RESOURCE_ATTRIBUTES=team":                                  "OTEL_RESOURCE_ATTRIBUTES",
		"RESOURCE_ATTRIBUTES=team=%z":                               "OTEL_RESOURCE_ATTRIBUTES",
	} {
		who, err := describe(t.Context(), variables(env), Options{Version: "v1"})
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", env, err, want)
			}
			continue
		}
		var got []string
		for _, a := range who.Attributes() {
			if a.Key == attrServiceName || a.Key == "team" {
				got = append(got, string(a.Key)+"="+a.Value.AsString())
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: %s, want %s", env, text, want)
		}
	}
}

func TestSetupNamesTheWrongVariable(t *testing.T) {
	for env, want := range map[string]string{
		"TRACES_EXPORTER=otlp BSP_MAX_QUEUE_SIZE=0":       "OTEL_BSP_MAX_QUEUE_SIZE",
		"TRACES_EXPORTER=otlp BSP_SCHEDULE_DELAY=soon":    "OTEL_BSP_SCHEDULE_DELAY",
		"TRACES_EXPORTER=otlp TRACES_SAMPLER=x":           "OTEL_TRACES_SAMPLER",
		"TRACES_EXPORTER=otlp METRICS_EXPORTER=x":         "OTEL_METRICS_EXPORTER",
		"METRICS_EXPORTER=otlp METRIC_EXPORT_INTERVAL=-1": "OTEL_METRIC_EXPORT_INTERVAL",
		"RESOURCE_ATTRIBUTES=x":                           "OTEL_RESOURCE_ATTRIBUTES",
	} {
		if _, err := Setup(t.Context(), Options{Getenv: variables(env)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v does not name %s", env, err, want)
		}
	}
}
