package gateway

import (
	"context"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/telemetry"
	"gatewayd/internal/telemetry/otlptest"
)

// traced returns a receiver of spans, and telemetry that sends it those of all requests.
func traced(t *testing.T) (*otlptest.Receiver, *telemetry.Telemetry) {
	t.Helper()
	receiver := otlptest.Start(t)
	tele, err := telemetry.Setup(t.Context(), telemetry.Options{Getenv: otlptest.Getenv(receiver.Env()), Logger: hclog.NewNullLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tele.Shutdown(context.Background()) }) // most often once more
	return receiver, tele
}

// The span of a request says what its client speaks.
func TestSpansTellTheProtocol(t *testing.T) {
	receiver, tele := traced(t)
	wants := map[string][2]any{}
	for _, p := range protocols {
		var cas *x509.CertPool
		w := setup{telemetry: tele, config: func(c *config.Config) {
			if p.tls {
				cas = certified(c)
			}
		}}.world(t, newFake(t, answerJSON))
		req, err := http.NewRequest(http.MethodPost, w.URL+"/v1/chat/completions", strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		id := strings.ReplaceAll(p.name, " ", "-")
		req.Header.Set("X-Request-Id", id)
		resp, err := p.client(t, cas).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		w.idle()
		want := [2]any{"http", "1.1"}
		if p.tls {
			want[0] = "https"
		}
		if p.major == 2 {
			want[1] = "2"
		}
		wants[id] = want
	}
	patience, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const name = "POST /v1/chat/completions"
	spans := receiver.Wait(patience, func(spans []otlptest.Span) bool { return len(otlptest.Named(spans, name)) >= len(wants) })
	for _, s := range otlptest.Named(spans, name) {
		id, _ := s.Attributes["gatewayd.request.id"].(string)
		if got := [2]any{s.Attributes["url.scheme"], s.Attributes["network.protocol.version"]}; got != wants[id] {
			t.Errorf("%s: %v, want %v", id, got, wants[id])
		}
		delete(wants, id)
	}
	if len(wants) > 0 {
		t.Errorf("no spans of %v", wants)
	}
}
