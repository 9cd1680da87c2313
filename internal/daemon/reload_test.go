package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/plugin/ref"
)

// version is one of the configurations of a test: a worker that takes no other key
// and model than its own, and an alias that leads there.
func version(t *testing.T, n int) (c config.Config) {
	key, model := fmt.Sprint("key-", n), fmt.Sprint("model-", n)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model  string
			Stream bool
		}
		switch {
		case r.URL.Path != "/v1/chat/completions":
			return // healthy
		case json.NewDecoder(r.Body).Decode(&body) != nil || r.Header.Get("Authorization") != "Bearer "+key || body.Model != model:
			http.Error(w, fmt.Sprintf("worker of %s got %s with %s", model, body.Model, r.Header.Get("Authorization")), http.StatusTeapot)
		case body.Stream:
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, token)
			http.NewResponseController(w).Flush()
			if r.Header.Get("X-Hold") != "" {
				<-r.Context().Done()
			}
			io.WriteString(w, done)
		default:
			io.WriteString(w, `{"choices":[]}`)
		}
	}))
	t.Cleanup(s.Close)
	c = settings()
	c.Workers = []config.Worker{{URL: s.URL, ID: model, Models: []string{model}, Key: config.NewSecret(key), Concurrency: 10 * n}}
	c.Aliases = map[string]string{"m": model}
	c.Limits.Queue, c.Timeouts.Total = 100*n, time.Duration(n)*time.Hour
	c.Headers.Session = []string{fmt.Sprint("x-session-", n)}
	return c
}

// patient are plugin settings for a machine that is busy.
func patient(c *config.Config) {
	c.Plugins.StartTimeout, c.Plugins.DecisionTimeout, c.Plugins.TrialTime = time.Minute, 5*time.Second, 100*time.Millisecond
}

// source is a configuration that changes.
type source struct {
	mu  sync.Mutex
	now config.Config
}

func (s *source) set(c config.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = c
}

func (s *source) load() (config.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, nil
}

func startFrom(t *testing.T, s *source) *Daemon {
	t.Helper()
	d, err := Start(t.Context(), Options{
		Config: s.now, Version: "test", Logger: hclog.NewNullLogger(), Getenv: func(string) string { return "" }, Load: s.load,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	until(t, "readiness", func() bool { return status(t, d, "/readyz") == http.StatusOK })
	return d
}

// load sends requests until it is told to stop, and fails the test with each that
// gets no good answer.
type load struct {
	stop   chan struct{}
	once   sync.Once
	served atomic.Int64
	all    sync.WaitGroup
}

func begin(t *testing.T, d *Daemon, clients int, body func(client, n int) (string, http.Header)) *load {
	l := &load{stop: make(chan struct{})}
	t.Cleanup(l.end)
	for client := range clients {
		l.all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.stop:
					return
				default:
				}
				text, header := body(client, n)
				r, err := http.NewRequest(http.MethodPost, "http://"+d.Addr()+"/v1/chat/completions", strings.NewReader(text))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header = header
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Errorf("a request failed: %v", err)
					return
				}
				b, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK || strings.Contains(text, `"stream":true`) && !strings.HasSuffix(string(b), done) {
					t.Errorf("a request failed: %s, %v: %s", resp.Status, err, b)
				}
				l.served.Add(1)
			}
		})
	}
	return l
}

// more waits until n more requests have been served.
func (l *load) more(t *testing.T, n int64) {
	t.Helper()
	goal := l.served.Load() + n
	until(t, "requests to be served", func() bool { return l.served.Load() >= goal || t.Failed() })
}

func (l *load) end() {
	l.once.Do(func() { close(l.stop) })
	l.all.Wait()
}

// Aliases, workers, keys and limits change together under load: every request is
// of one version, and a stream ends with the one that it began with.
func TestReloadUnderLoad(t *testing.T) {
	versions := []config.Config{version(t, 1), version(t, 2)}
	s := &source{now: versions[0]}
	d := startFrom(t, s)
	held, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(held, http.MethodPost, "http://"+d.Addr()+"/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Hold", "1")
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stream.Body, make([]byte, len(token))); err != nil {
		t.Fatal(err)
	}
	l := begin(t, d, 6, func(client, n int) (string, http.Header) {
		return fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"%d"}]}`, n%2 == 0, client), http.Header{}
	})
	for i := range 6 {
		l.more(t, 20)
		s.set(versions[(i+1)%2])
		var err error
		until(t, "earlier configurations to end", func() bool { err = d.Reload(t.Context()); return !errors.Is(err, ErrBusy) })
		if err != nil {
			t.Fatal(err)
		}
		if now := d.Config(); now.Number != uint64(i+2) || now.Error != "" {
			t.Errorf("after reload %d: %+v", i+1, now)
		}
	}
	l.more(t, 20)
	l.end()
	until(t, "all but the first configuration to be closed", func() bool { return d.Config().Before == 1 })
	if err := d.Reload(t.Context()); err != nil || d.Config().Number != 7 {
		t.Errorf("a reload without a change: %v, %+v", err, d.Config())
	}
	leave()
	stream.Body.Close()
	until(t, "the first configuration to be closed", func() bool { return d.Config().Before == 0 })
}

// A strategy is killed and replaced under load, by good executables and bad ones:
// no request fails, keys keep the homes that were planned, and a bad one changes
// nothing.
func TestSwapUnderLoad(t *testing.T) {
	const sessions = 40
	c := settings()
	patient(&c)
	c.Plugins.TrialTime, c.Plugins.TrialDecisions = time.Minute, 20 // each is really asked
	for i := range 3 {
		c.Workers = append(c.Workers, config.Worker{URL: holding(t, nil), ID: fmt.Sprint("w", i)})
	}
	c.Strategies = []ref.Ref{{Name: "cacheroute", Options: map[string]string{"interval": "1s"}}, {Name: "sticky"}}
	d := startFrom(t, &source{now: c})
	pid := func() int { return d.Processes()[0].Pid }
	homes := func() (version uint64, of map[uint64]string) {
		of = map[uint64]string{}
		for _, p := range d.Pools()["m"].Plans() {
			if p.Strategy == "cacheroute" {
				version = p.Plan.Version
				for i, key := range p.Plan.Table.Keys {
					of[key] = p.Plan.Workers[p.Plan.Table.Of(i)[0]].ID
				}
			}
		}
		return version, of
	}
	l := begin(t, d, 4, func(client, n int) (string, http.Header) {
		return hello, http.Header{"X-Session-Id": {fmt.Sprint("s", (client*10+n)%sessions)}}
	})
	until(t, "all sessions to be planned", func() bool { _, of := homes(); return len(of) >= sessions*9/10 })
	moved, all := 0, 0
	// planned waits for the first plan after the one of version, and counts what it moved.
	planned := func(version uint64, before map[uint64]string) {
		t.Helper()
		var after map[uint64]string
		until(t, "a new plan", func() bool { v, of := homes(); after = of; return v > version })
		for key, home := range before {
			if all++; after[key] != home && after[key] != "" {
				moved++
			}
		}
	}
	old := pid()
	version, before := homes()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the killed strategy to be back", func() bool { p := pid(); return p != old && p != 0 })
	planned(version, before)
	old = pid()
	for _, path := range []string{executable(t, "cacheroute"), ""} {
		version, before := homes()
		if err := d.Swap(t.Context(), "cacheroute", path); err != nil {
			t.Fatal(err)
		}
		planned(version, before)
		if p := pid(); p == old || p == 0 {
			t.Errorf("after a swap to %q the process is %d, as before", path, p)
		}
		old = pid()
		l.more(t, 50)
	}
	for strategy, says := range map[string]string{"refuses": "licence", "misplans": "no valid plan for model m: .*no idea", "dies": "ended while it was tried|asked in vain", "nothing": "unknown strategy"} {
		path := "/nowhere"
		if strategy != "nothing" {
			path = executable(t, strategy)
		} else {
			says = "/nowhere"
		}
		err := d.Swap(t.Context(), "cacheroute", path)
		if err == nil || !regexp.MustCompile(says).MatchString(err.Error()) {
			t.Errorf("a swap to one that %s: error %v", strategy, err)
		}
		if p := pid(); p != old {
			t.Errorf("after a bad swap the process is %d, not %d", p, old)
		}
		if d.Config().Error == "" {
			t.Errorf("after a bad swap there is no error: %+v", d.Config())
		}
		l.more(t, 20)
	}
	if err := d.Swap(t.Context(), "stiky", ""); err == nil || !strings.Contains(err.Error(), "cacheroute, sticky") {
		t.Errorf("a swap of nothing: error %v", err)
	}
	l.end()
	if all < 3*sessions/2 || float64(moved) > 0.05*float64(all) {
		t.Errorf("%d of %d planned homes moved", moved, all)
	}
}

// A strategy that is down is no excuse for another one that does not serve, and the
// process that takes its place serves.
func TestSwapOfOneThatIsDown(t *testing.T) {
	c := settings(holding(t, nil))
	patient(&c)
	crashes := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(crashes, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.Strategies = []ref.Ref{{Name: crashes}}
	d := startFrom(t, &source{now: c})
	for _, path := range []string{"", crashes} {
		if err := d.Swap(t.Context(), "mine", path); err == nil || !strings.Contains(err.Error(), "exit status 3") {
			t.Errorf("a swap to %q: error %v", path, err)
		}
	}
	if err := d.Swap(t.Context(), "mine", executable(t, "sticky")); err != nil {
		t.Error(err)
	}
	if p := d.Processes()[0]; p.Phase != plugin.Up || d.Config().Number != 2 {
		t.Errorf("%+v, configuration %+v", p, d.Config())
	}
}

// What cannot change is named, and nothing changes.
func TestUnchangeable(t *testing.T) {
	s := &source{now: settings(holding(t, nil))}
	d := startFrom(t, s)
	for name, change := range map[string]func(*config.Config){
		"listen":                  func(c *config.Config) { c.Listen = "127.0.0.1:1" },
		"admin_listen":            func(c *config.Config) { c.AdminListen = "" },
		"admin_token_file":        func(c *config.Config) { c.AdminToken = "x" },
		"whether the API has TLS": func(c *config.Config) { c.TLS.CertFile = "x" },
		"limits.header_bytes":     func(c *config.Config) { c.Limits.HeaderBytes++ },
		"state.redis":             func(c *config.Config) { c.State.Redis = config.NewSecret("redis://h") },
		"state.namespace":         func(c *config.Config) { c.State.Namespace = "x" },
		"seed":                    func(c *config.Config) { c.Seed++ },
		"record":                  func(c *config.Config) { c.Record.File = "x" },
		"log.format":              func(c *config.Config) { c.Log.Format = "json" },
	} {
		other := settings()
		other.Workers = s.now.Workers
		change(&other)
		s.set(other)
		err := d.Reload(t.Context())
		var wrong *SettingsError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), name+" cannot change") || !strings.Contains(err.Error(), "restart") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if now := d.Config(); now.Number != 1 || now.Error == "" {
		t.Errorf("%+v", now)
	}
}
