package replay

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/worker"
)

// emulated is an emulated worker on loopback.
func emulated(t *testing.T, c worker.Config) *url.URL {
	t.Helper()
	p, err := engine.ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	c.Models, c.Profile, c.Speed = []string{"llama", "alias"}, p, 1000
	w, err := worker.New(c)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.Handler())
	t.Cleanup(func() { server.Close(); w.Close() })
	return parsed(t, server.URL+"/v1/")
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestReplayToAServer goes the whole way over HTTP: the server is asked for its
// model and measured, then every prompt has the tokens that the trace says, and
// what the trace shares is cached.
func TestReplayToAServer(t *testing.T) {
	target := emulated(t, worker.Config{APIKey: "key"})
	tr := blocked()
	for i := range tr.Requests {
		tr.Requests[i].Output = 3
	}
	for _, endpoint := range []Endpoint{Chat, Completions} {
		c := Config{Trace: tr, Target: target, Options: Options{APIKey: "key", Endpoint: endpoint, SessionHeader: "X-Session-Id", Salt: 7, MaxInFlight: 100}}
		var err error
		if c.Model, err = Model(t.Context(), c); err != nil || c.Model != "llama" {
			t.Fatalf("model %q, %v", c.Model, err)
		}
		m, err := Measure(t.Context(), c)
		if err != nil || !m.Exact || m.Tokens.BytesPerToken != 4 {
			t.Fatalf("measured %+v, %v", m, err)
		}
		c.Options.Tokens, c.Options.Exact = m.Tokens, m.Exact
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range r.Outcomes {
			if o.Kind != Complete || int(o.Prompt) != tr.Requests[i].Input || o.Output != 3 || o.Chunks != 3 {
				t.Errorf("%s %d: %+v (%v), want %d prompt tokens", endpoint, i, o, r.Messages, tr.Requests[i].Input)
			}
		}
		p := r.Report(slo())
		if p.Figures.KVHit.Or(0) < 0.2 || p.Counted.Prompt != p.Counted.PromptAsked || len(p.Workers) != 0 {
			t.Errorf("KV hit %v, counted %+v, workers %v", p.Figures.KVHit, p.Counted, p.Workers)
		}
		for _, warning := range p.Warnings {
			if !strings.HasPrefix(warning, "this machine could not keep up") {
				t.Errorf("%s: warning %q", endpoint, warning)
			}
		}
		c.Options.Salt++
	}
}

// TestUnreachable: a server that is not there is told apart.
func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	target := parsed(t, server.URL)
	server.Close()
	c := Config{Trace: traffic(1, 0), Target: target, Model: "m"}
	if _, err := Model(t.Context(), c); err == nil || !strings.Contains(err.Error(), "name the model") {
		t.Errorf("model: %v", err)
	}
	if _, err := Measure(t.Context(), c); err == nil || !strings.Contains(err.Error(), "connect") {
		t.Errorf("measure: %v", err)
	}
	r, err := Run(t.Context(), c)
	if err != nil || r.Outcomes[0].Kind != Connect {
		t.Errorf("%+v, %v", r.Outcomes[0], err)
	}
}

// TestStrangeServers: whatever a server says before the replay, an error explains
// what to state instead.
func TestStrangeServers(t *testing.T) {
	for name, x := range map[string]struct{ models, answer, wantModel, wantTokens string }{
		"no JSON":   {"<html>", "<html>", "lists none", "error_in_stream"},
		"no models": {`{"data":[]}`, `{"error":{"message":"broken"}}`, "lists none", "broken"},
		"no usage":  {`{"data":[{"id":"m"}]}`, `{"choices":[{"message":{"content":"a"}}]}`, "", "reports no usage"},
		"constant":  {`{"data":[{"id":"m"}]}`, `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`, "", "state its bytes per token"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text := x.answer
			if r.URL.Path == "/v1/models" {
				text = x.models
			}
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(text))
		}))
		c := Config{Trace: traffic(1, 0), Target: parsed(t, server.URL), Model: "m"}
		_, err := Model(t.Context(), c)
		wrong(t, name+": model", err, x.wantModel)
		_, err = Measure(t.Context(), c)
		wrong(t, name+": tokens", err, x.wantTokens)
		server.Close()
	}
}

func wrong(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// TestServerWithoutExactOutput: a server that refuses unknown fields is measured
// without them.
func TestServerWithoutExactOutput(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		if _, err := r.Body.Read(body); err != nil && len(body) == 0 {
			return
		}
		if strings.Contains(string(body), "ignore_eos") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		tokens := "10"
		if r.ContentLength > 5000 {
			tokens = "2009"
		}
		w.Write([]byte(`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":` + tokens + `,"completion_tokens":1}}`))
	}))
	defer server.Close()
	m, err := Measure(t.Context(), Config{Trace: traffic(1, 0), Target: parsed(t, server.URL), Model: "m"})
	if err != nil || m.Exact || m.Tokens.BytesPerToken < 3.7 || m.Tokens.BytesPerToken > 3.9 {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestTooLong: a refusal for want of context is a kind of its own.
func TestTooLong(t *testing.T) {
	target := emulated(t, worker.Config{ContextLen: 100})
	tr := traffic(2, 0)
	tr.Requests[1].Input = 500
	r, err := Run(t.Context(), Config{Trace: tr, Target: target, Model: "llama"})
	if err != nil || r.Outcomes[0].Kind != Complete || r.Outcomes[1].Kind != TooLong {
		t.Errorf("%+v, %v", r.Outcomes, err)
	}
}

func TestConfig(t *testing.T) {
	good := Config{Trace: traffic(1, 0), Target: &url.URL{Scheme: "http", Host: "h"}, Model: "m"}
	for name, spoil := range map[string]func(*Config){
		"no trace":   func(c *Config) { c.Trace = nil },
		"no host":    func(c *Config) { c.Target = &url.URL{Scheme: "http"} },
		"no model":   func(c *Config) { c.Model = "" },
		"endpoint":   func(c *Config) { c.Options.Endpoint = "embeddings" },
		"timing":     func(c *Config) { c.Options.Timing = "random" },
		"dilation":   func(c *Config) { c.Options.Dilation = -1 },
		"limit":      func(c *Config) { c.Options.MaxInFlight = -1 },
		"tokens":     func(c *Config) { c.Options.Tokens.BytesPerToken = 0.1 },
		"backwards":  func(c *Config) { c.Options.Timing = Sessions; c.Trace.Requests[0].After = []int32{0} },
		"fixed part": func(c *Config) { c.Options.Tokens.Fixed = -1 },
	} {
		c := good
		c.Trace = traffic(1, 0)
		spoil(&c)
		if _, err := Run(t.Context(), c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
