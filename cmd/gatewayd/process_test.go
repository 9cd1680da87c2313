package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/worker"
	"gatewayd/internal/admin"
	"gatewayd/internal/daemon"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// askingStrategy is a strategy with Route only: it asks for every request, and
// always wants the last worker.
const askingStrategy = "asking-strategy"

// TestMain makes the test binary three programs: the tests, the gateway, and
// the strategies that gateways start.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == askingStrategy:
		plugin.Serve(router.Definition{Name: askingStrategy, Version: "1", New: func(router.Options, uint64) (router.Instance, error) { return asking{}, nil }})
	case len(os.Args) == 3 && os.Args[1] == hostileStrategy:
		serveHostile(os.Args[2])
	case os.Getenv("GATEWAYD_TEST_RUN") != "", len(os.Args) > 1 && os.Args[1] == daemon.BundledCommand:
		main()
	default:
		os.Setenv("XDG_CONFIG_HOME", authorDir) // where gateways have their admin token
		code := m.Run()
		os.RemoveAll(authorDir)
		os.Exit(code)
	}
}

type asking struct{}

func (asking) Info() router.Info {
	return router.Info{Name: askingStrategy, Version: "1", Routes: true}
}

func (asking) Route(in router.Input) router.Decision {
	return router.Decision{Verdict: router.Route, Ranking: []router.Placement{{Worker: len(in.Workers) - 1}}, Reason: "last"}
}

// askingPlugin returns the path of an executable that serves askingStrategy.
func askingPlugin(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "asking")
	script := fmt.Sprintf("#!/bin/sh\nexec %q %s\n", os.Args[0], askingStrategy)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// patience bounds every wait of these tests; it is for hangs, not for speed.
func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// until polls a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx := patience(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

// emulatedWorker starts an emulated worker and returns its URL.
func emulatedWorker(t *testing.T) string {
	t.Helper()
	profile, err := engine.ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	s, err := worker.New(worker.Config{Models: []string{"m"}, Profile: profile, Speed: 100})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(func() { server.Close(); s.Close() })
	return server.URL
}

// running is a gateway in a process of its own.
type running struct {
	t          *testing.T
	cmd        *exec.Cmd
	api, admin string
	mu         sync.Mutex
	log        bytes.Buffer
	ended      chan error
}

// unhurried is configuration for machines under load: strategies that are slow to
// start or to decide are waited for, so that a time limit tells of a hang only.
const unhurried = "plugins: {start_timeout: 1m, decision_timeout: 10s}\n"

// startGateway runs `gatewayd serve` as serving does and waits until it is ready.
func startGateway(t *testing.T, env map[string]string, args ...string) *running {
	t.Helper()
	g := serving(t, env, args...)
	until(t, "readiness", func() bool {
		resp, err := http.Get("http://" + g.api + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return g
}

// serving runs `gatewayd serve` with the arguments, unhurried unless they name a
// configuration, and waits until it serves.
func serving(t *testing.T, env map[string]string, args ...string) *running {
	t.Helper()
	g := &running{t: t, ended: make(chan error, 1)}
	if !slices.Contains(args, "--config") {
		args = append(args, "--config", write(t, unhurried))
	}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "debug"}, args...)
	g.cmd = exec.Command(os.Args[0], args...)
	g.cmd.Env = append(os.Environ(), "GATEWAYD_TEST_RUN=1")
	for k, v := range env {
		g.cmd.Env = append(g.cmd.Env, k+"="+v)
	}
	stderr, err := g.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	go g.read(stderr, begun)
	t.Cleanup(func() {
		g.cmd.Process.Kill()
		<-g.ended
		if t.Failed() {
			t.Logf("log of the gateway:\n%s", g.logged())
		}
	})
	select {
	case <-begun:
	case <-patience(t).Done():
		t.Fatal("the gateway did not start to serve")
	}
	if g.api == "" {
		t.Fatalf("the gateway ended at its start:\n%s", g.logged())
	}
	return g
}

// read keeps the log and finds the addresses in it.
func (g *running) read(stderr io.Reader, begun chan struct{}) {
	once := sync.OnceFunc(func() { close(begun) })
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Message string `json:"@message"`
			API     string `json:"api"`
			Admin   string `json:"admin"`
		}
		g.mu.Lock()
		g.log.Write(append(lines.Bytes(), '\n'))
		g.mu.Unlock()
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Message == "serving" {
			g.api, g.admin = strings.TrimPrefix(line.API, "http://"), line.Admin
			once()
		}
	}
	once()
	g.ended <- g.cmd.Wait()
	g.ended <- nil
}

func (g *running) logged() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.log.String()
}

// get returns the body of an admin page.
func (g *running) get(path string) string {
	g.t.Helper()
	return g.ask(http.MethodGet, path, "")
}

// ask sends a request to the admin listener, with the token of this test's
// gateways, and returns the answer's body.
func (g *running) ask(method, path, body string) string {
	g.t.Helper()
	req, err := http.NewRequest(method, "http://"+g.admin+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken(g.t))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(b)
}

// adminToken is the token of this test's gateways.
func adminToken(t *testing.T) string {
	t.Helper()
	file, err := admin.TokenFile()
	if err != nil {
		t.Fatal(err)
	}
	token, err := admin.OpenToken(file)
	if err != nil {
		t.Fatal(err)
	}
	return token.Reveal()
}

// plan is what /plans says of one plan.
type plan struct {
	Strategy string              `json:"strategy"`
	Version  uint64              `json:"version"`
	Planner  bool                `json:"planned_here"`
	Keys     int                 `json:"keys"`
	Holds    int                 `json:"holds"`
	Bind     float64             `json:"bind_ttl_seconds"`
	Table    map[string][]string `json:"table"`
}

func (g *running) plan(strategy string) plan {
	g.t.Helper()
	var plans []plan
	if err := json.Unmarshal([]byte(g.get("/plans?keys=1000")), &plans); err != nil {
		g.t.Fatal(err)
	}
	for _, p := range plans {
		if p.Strategy == strategy {
			return p
		}
	}
	return plan{}
}

// chat sends a chat completion for a session and returns the response, read.
func (g *running) chat(session string, stream bool) (*http.Response, string, error) {
	body := fmt.Sprintf(`{"model":"m","stream":%v,"max_tokens":3,"messages":[{"role":"user","content":"Hello from %s"}]}`, stream, session)
	req, err := http.NewRequest(http.MethodPost, "http://"+g.api+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Session-Id", session)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// mustChat fails the test unless the answer is a 200; it returns the worker.
func (g *running) mustChat(session string) (worker string) {
	g.t.Helper()
	resp, body, err := g.chat(session, false)
	if err != nil {
		g.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		g.t.Fatalf("status %s: %s", resp.Status, body)
	}
	return resp.Header.Get("X-Gatewayd-Worker")
}

// stop ends the gateway as an operator would, and wants exit code 0.
func (g *running) stop(signal os.Signal) {
	g.t.Helper()
	if err := g.cmd.Process.Signal(signal); err != nil {
		g.t.Fatal(err)
	}
	select {
	case err := <-g.ended:
		if err != nil {
			g.t.Errorf("the gateway ended with %v", err)
		}
	case <-patience(g.t).Done():
		g.t.Fatal("the gateway did not end")
	}
}
