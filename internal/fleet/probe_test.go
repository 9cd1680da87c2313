package fleet

import (
	"context"
	"net/http"
	"testing"
)

func TestProbe(t *testing.T) {
	well, bare, ill := vllm("llama"), vllm("llama"), vllm("llama")
	bare.body = nil
	ill.status[healthPath] = http.StatusServiceUnavailable
	w := world{"well": well, "bare": bare, "ill": ill}
	probe := func(id string) Status { return Probe(context.Background(), spec(id), defaults.Probe, w) }

	if s := probe("well"); !s.Up || s.Engine != "vllm" || len(s.Models) != 1 || s.Trouble+s.List+s.Metrics != "" || s.Running.Value != 1 {
		t.Errorf("well: %+v", s)
	}
	if s := probe("bare"); !s.Up || s.List != "GET /v1/models: status 404" || s.Metrics != "GET /metrics: status 404" {
		t.Errorf("bare: %+v", s)
	}
	if s := probe("ill"); s.Up || s.Trouble != "GET /health: status 503: it is not ready yet" || ill.requests(modelsPath) != 0 {
		t.Errorf("ill: %+v", s)
	}
	if s := Probe(context.Background(), spec("127.0.0.1:1"), defaults.Probe, nil); s.Up || s.Trouble == "" {
		t.Errorf("nobody there: %+v", s)
	}
}
