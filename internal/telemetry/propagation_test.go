package telemetry

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatewayd/internal/http1"
)

const (
	traceA  = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanA   = "00f067aa0ba902b7"
	sampled = "00-" + traceA + "-" + spanA + "-01"
)

// upstream runs a request with these headers through the gateway's spans and
// returns what a worker gets and the span of the attempt.
func upstream(t *testing.T, telemetry *Telemetry, client http1.Header) (http1.Header, SpanRef) {
	t.Helper()
	ctx, server := telemetry.StartServer(t.Context(), ServerRequest{Method: http.MethodPost, Header: client, Major: 1}, "/v1/completions")
	out := slices.Clone(client) // the edge may copy too much
	ctx, attempt := telemetry.StartAttempt(ctx, Attempt{Operation: OperationCompletion, Model: "m"}, &out)
	_ = ctx
	attempt.End(AttemptResult{})
	server.End(ServerResult{Status: 200})
	return out, attempt.Ref()
}

func TestWorkerGetsExactlyOneTraceparent(t *testing.T) {
	long := "00-" + strings.Repeat("a", 100_000)
	for _, test := range []struct {
		name   string
		parent []string
		state  []string
		joins  bool   // the client's trace goes on
		flags  string // that the worker sees
		want   string // tracestate that the worker sees
	}{
		{"none", nil, nil, false, "01", ""},
		{"good and sampled", []string{sampled}, []string{"a=1"}, true, "01", "a=1"},
		{"good, not sampled", []string{"00-" + traceA + "-" + spanA + "-00"}, []string{"a=1,b=2"}, true, "00", "a=1,b=2"},
		{"state in two fields", []string{sampled}, []string{"a=1", "b=2"}, true, "01", "a=1,b=2"},
		{"bad state", []string{sampled}, []string{"a=1\r\nx: y"}, true, "01", ""},
		{"later version", []string{"01-" + traceA + "-" + spanA + "-01-more"}, nil, true, "01", ""},
		{"state alone", nil, []string{"a=1"}, false, "01", ""},
		{"two", []string{sampled, sampled}, []string{"a=1"}, false, "01", ""},
		{"two in one field", []string{sampled + "," + sampled}, nil, false, "01", ""},
		{"empty", []string{""}, nil, false, "01", ""},
		{"zero trace", []string{"00-" + strings.Repeat("0", 32) + "-" + spanA + "-01"}, nil, false, "01", ""},
		{"zero span", []string{"00-" + traceA + "-0000000000000000-01"}, nil, false, "01", ""},
		{"upper case", []string{strings.ToUpper(sampled)}, nil, false, "01", ""},
		{"version ff", []string{"ff" + sampled[2:]}, nil, false, "01", ""},
		{"extra fields", []string{sampled + "-more"}, nil, false, "01", ""},
		{"new lines", []string{sampled + "\r\nX-Evil: 1"}, nil, false, "01", ""},
		{"over-long", []string{long}, []string{long}, false, "01", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			telemetry := traced(t, &memory{}, nil)
			var client http1.Header
			for _, v := range test.parent {
				client.Add("Traceparent", v)
			}
			for _, v := range test.state {
				client.Add("Tracestate", v)
			}
			out, attempt := upstream(t, telemetry, client)
			want := "00-" + hex.EncodeToString(attempt.TraceID[:]) + "-" + hex.EncodeToString(attempt.SpanID[:]) + "-" + test.flags
			if got := out.Values("Traceparent"); len(got) != 1 || got[0] != want {
				t.Errorf("traceparent %q, want exactly %q", got, want)
			}
			if joins := hex.EncodeToString(attempt.TraceID[:]) == traceA; joins != test.joins {
				t.Errorf("the client's trace goes on: %v, want %v", joins, test.joins)
			}
			if got := strings.Join(out.Values("Tracestate"), "|"); got != test.want {
				t.Errorf("tracestate %q, want %q", got, test.want)
			}
		})
	}
}

func TestTracingOffPassesTheClientsContextOn(t *testing.T) {
	client := http1.Header{{Name: "Traceparent", Value: sampled}, {Name: "Tracestate", Value: "a=1"}}
	out, _ := upstream(t, Off(), client)
	if out.Get("Traceparent") != sampled || out.Get("Tracestate") != "a=1" {
		t.Errorf("the worker got %v", out)
	}
	for _, parent := range [][]string{{"nonsense"}, {sampled, sampled}} {
		out, _ = upstream(t, Off(), http1.HeaderOf(http.Header{"Traceparent": parent, "Tracestate": {"a=1"}}))
		if len(out) != 0 {
			t.Errorf("%q: the worker got %v", parent, out)
		}
	}
}

func TestBaggageIsPassedOnWithinBounds(t *testing.T) {
	for client, want := range map[string]string{
		"user=alice,tier=gold":                  "tier=gold,user=alice",
		"name=a%20b":                            "name=a%20b",
		"not baggage":                           "",
		"evil=1\r\nX-Evil: 1":                   "",
		"k=" + strings.Repeat("v", 8192):        "",
		strings.Repeat("x=1,", 2049) + "last=1": "",
	} {
		out, _ := upstream(t, traced(t, &memory{}, nil), http1.Header{{Name: "Baggage", Value: client}})
		got := out.Values("Baggage")
		members := strings.Split(strings.Join(got, "|"), ",")
		slices.Sort(members)
		if text := strings.Join(members, ","); len(got) > 1 || text != want {
			t.Errorf("%.40q: the worker got %q, want %q", client, got, want)
		}
	}
}
