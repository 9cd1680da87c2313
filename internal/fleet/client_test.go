package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/http1"
)

const canary = "sk-canary-81c2"

// TestKeys: each worker gets its own key and headers and no other's, nor a
// client's beside them, redirects are not followed, and no key shows in a log, a
// status or a printed value.
func TestKeys(t *testing.T) {
	a, b, evil := vllm("llama"), vllm("llama"), vllm("llama")
	b.status[healthPath], b.location = http.StatusFound, "http://evil/health"
	w := world{"a": a, "b": b, "evil": evil}
	sa, sb := spec("a"), spec("b")
	sa.Key, sb.Key = config.NewSecret(canary+"-a"), config.NewSecret(canary+"-b")
	sa.Headers = http.Header{"X-Team": {"search"}}
	var log bytes.Buffer
	o := Options{Transport: w, Logger: hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Trace})}
	run(t, []Spec{sa, sb}, o, func(t *testing.T, f *Fleet) {
		pass(time.Minute)
		expect(t, "pool", pool(f, "llama"), "a")
		expect(t, "trouble", f.Workers()[1].Trouble, "GET /health: status 302")
		if len(evil.asked) > 0 {
			t.Errorf("a redirect was followed: %v", evil.asked[0].URL)
		}
		for host, s := range w {
			s.mu.Lock()
			for _, r := range s.asked {
				if got := r.Header.Get("Authorization"); got != "Bearer "+canary+"-"+host {
					t.Errorf("%s got %q with %s", host, got, r.URL.Path)
				}
				if host != "a" && r.Header.Get("X-Team") != "" {
					t.Errorf("%s got a header of another", host)
				}
			}
			s.mu.Unlock()
		}
		members := f.Snapshot().Pools()["llama"]
		h := http1.Header{{Name: "Authorization", Value: "Bearer client"}, {Name: "X-Team", Value: "client"}}
		members[0].Decorate(&h)
		expect(t, "a member's fields", fmt.Sprint(h), "[{Authorization Bearer "+canary+"-a} {X-Team search}]")
		shown := fmt.Sprintf("%+v %#v %+v %#v %+v %v", members, members, f.Workers(), sa, sa, log.String())
		if strings.Contains(shown, canary) {
			t.Error("a key shows: " + shown)
		}
	})
	if !strings.Contains(log.String(), "worker is up: worker=a") || !strings.Contains(log.String(), "worker does not come up: worker=b") {
		t.Errorf("the log does not tell what happened:\n%s", log.String())
	}
}

// TestNoHealthPage: a worker without one is well when it lists its models.
func TestNoHealthPage(t *testing.T) {
	s := vllm("llama")
	s.status[healthPath] = http.StatusNotFound
	within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		expect(t, "listing", pool(f, "llama"), "w")
		s.set(func(s *server) { s.status[modelsPath] = http.StatusUnauthorized })
		pass(time.Minute)
		expect(t, "not listing", pool(f, "llama"), "-w")
		expect(t, "trouble", f.Workers()[0].Trouble, "GET /v1/models: status 401: check the worker's api_key_file")
	})
}

// TestSockets runs a fleet over real connections: answers without an end are
// bounded, refused connections are recognised, and the path of a URL is kept.
func TestSockets(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/engine/health", func(w http.ResponseWriter, r *http.Request) {
		if !r.Close {
			t.Error("a health check came over a kept connection")
		}
		w.Write(bytes.Repeat([]byte("."), 4*maxHealth))
	})
	mux.HandleFunc("/engine/v1/models", func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"data":[{"id":"llama"}],"padding":"`))
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("a"), 1<<16)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/engine/metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("vllm:num_requests_running 5\n"))
	})
	server := httptest.NewServer(mux)
	base, err := url.Parse(server.URL + "/engine")
	if err != nil {
		t.Fatal(err)
	}
	s := spec("w")
	s.URL, s.Models = base, []string{"m"}
	up := make(chan struct{}, 1)
	patient := defaults.Probe
	patient.Timeout, patient.MetricsTimeout = time.Minute, time.Minute
	f, err := New([]Spec{s}, Options{Probe: patient, OnChange: func(s *Snapshot) {
		if m := s.Pools()["m"]; len(m) > 0 && !m[0].Down {
			wake(up)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	<-up
	if l := f.Loads("m"); len(l) != 1 || l[0].Running.Value != 5 {
		t.Errorf("loads %+v", l)
	}
	transport := NewTransport(time.Minute, nil)
	defer transport.CloseIdleConnections()
	c := newClient(transport)
	if l, err := c.models(context.Background(), &s, time.Minute); err == nil {
		t.Errorf("a list without an end is read as %v", l)
	}
	if err := c.check(context.Background(), &s, time.Minute); err != nil {
		t.Error(err)
	}
	f.Close()
	server.Close()
	err = c.check(context.Background(), &s, time.Minute)
	if !refused(err) || strings.Contains(err.Error(), "http://") {
		t.Errorf("a closed port: %v", err)
	}
	var timeout interface{ Timeout() bool }
	if err := c.check(context.Background(), &s, time.Nanosecond); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("no time at all: %v", err)
	}
}
