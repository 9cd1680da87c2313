package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"gatewayd/state/redistest"
)

var threeStrategies = []string{"--plugin", "cacheroute:interval=100ms", "--plugin", "sticky", "--plugin", "joule"}

func TestServeFromEndToEnd(t *testing.T) {
	g := startGateway(t, nil, append([]string{"--worker", emulatedWorker(t), "--worker", emulatedWorker(t)}, threeStrategies...)...)
	until(t, "sticky's plan", func() bool { return g.plan("sticky").Bind > 0 })

	resp, body, err := g.chat("s", true)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("stream: %v %v", resp, err)
	}
	if n := strings.Count(body, "data: "); n < 4 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("a stream of three tokens has %d events and ends in %q", n, body[max(0, len(body)-30):])
	}
	for _, name := range []string{"X-Gatewayd-Worker", "X-Gatewayd-Strategy", "X-Gatewayd-Reason", "X-Request-Id"} {
		if resp.Header.Get(name) == "" {
			t.Errorf("the answer has no %s", name)
		}
	}
	first := resp.Header.Get("X-Gatewayd-Worker")
	if second := g.mustChat("s"); second != first {
		t.Errorf("the session's second turn went to %s, the first to %s", second, first)
	}
	for path, body := range map[string]string{
		"/v1/completions": `{"model":"m","prompt":"Once upon","max_tokens":2}`,
		"/v1/embeddings":  `{"model":"m","input":["a","b"]}`,
	} {
		resp, err := http.Post("http://"+g.api+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var answer map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK || answer["usage"] == nil {
			t.Errorf("%s: status %s, answer %v, error %v", path, resp.Status, answer, err)
		}
		resp.Body.Close()
	}
	for path, status := range map[string]int{"/v1/models": 200, "/health": 200, "/healthz": 200, "/readyz": 200, "/nothing": 404} {
		resp, err := http.Get("http://" + g.api + path)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != status || path == "/v1/models" && !strings.Contains(string(b), `"id":"m"`) {
			t.Errorf("%s: status %s, %s", path, resp.Status, b)
		}
	}
	until(t, "the key in cacheroute's plan", func() bool { g.mustChat("s"); return g.plan("cacheroute").Keys > 0 })
	until(t, "a decision by the plan's table", func() bool {
		resp, _, err := g.chat("s", false)
		return err == nil && resp.Header.Get("X-Gatewayd-Strategy") == "cacheroute" && resp.Header.Get("X-Gatewayd-Reason") == "table"
	})
	g.stop(syscall.SIGTERM)
	if strings.Contains(g.logged(), `"@level":"error"`) {
		t.Errorf("a clean run logged errors:\n%s", g.logged())
	}
	if !strings.Contains(g.logged(), `"@message":"stopped"`) {
		t.Errorf("the end was not logged:\n%s", g.logged())
	}
}

func TestRouteIsCalled(t *testing.T) {
	g := startGateway(t, nil, "--worker", emulatedWorker(t), "--worker", emulatedWorker(t), "--plugin", askingPlugin(t))
	resp, _, err := g.chat("s", false)
	if err != nil {
		t.Fatal(err)
	}
	if s, r := resp.Header.Get("X-Gatewayd-Strategy"), resp.Header.Get("X-Gatewayd-Reason"); s != "asking" || r != "last" {
		t.Errorf("strategy %q decided with reason %q, want asking with last", s, r)
	}
	if !strings.Contains(g.get("/metrics"), `gatewayd_strategy_pick_duration_seconds_count{outcome="route",strategy="asking"} 1`) {
		t.Error("the call is not in the metrics")
	}
}

func TestHeadersCanBeSwitchedOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatewayd.yaml")
	text := unhurried + fmt.Sprintf("workers:\n  - url: %s\nheaders:\n  expose: false\nstrategies: [least-busy]\n", emulatedWorker(t))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := startGateway(t, nil, "--config", file)
	resp, _, err := g.chat("s", false)
	if err != nil {
		t.Fatal(err)
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "X-Gatewayd-") {
			t.Errorf("header %s was sent", name)
		}
	}
}

// pids returns the process IDs of a strategy's processes, in the order in
// which they came up.
func (g *running) pids(strategy string) []int {
	var out []int
	for _, line := range strings.Split(g.logged(), "\n") {
		if strings.Contains(line, "strategy is up") && strings.Contains(line, `"strategy":"`+strategy+`"`) {
			if m := regexp.MustCompile(`"pid":(\d+)`).FindStringSubmatch(line); m != nil {
				pid, _ := strconv.Atoi(m[1])
				out = append(out, pid)
			}
		}
	}
	return out
}

func TestKilledPluginFailsNoRequest(t *testing.T) {
	const clients, each = 8, 60
	g := startGateway(t, nil, "--worker", emulatedWorker(t), "--worker", emulatedWorker(t),
		"--plugin", askingPlugin(t), "--plugin", "cacheroute", "--plugin", "sticky")
	var served, failed atomic.Int64
	half := make(chan struct{})
	var load sync.WaitGroup
	for c := range clients {
		load.Go(func() {
			for i := range each {
				resp, body, err := g.chat(fmt.Sprint(c), i%2 == 0)
				if err != nil || resp.StatusCode != http.StatusOK || i%2 == 0 && !strings.HasSuffix(body, "[DONE]\n\n") {
					failed.Add(1)
					t.Errorf("request failed: %v %v %s", err, resp, body)
				}
				if served.Add(1) == clients*each/4 {
					close(half)
				}
			}
		})
	}
	<-half
	for _, strategy := range []string{"asking", "cacheroute", "sticky"} {
		pids := g.pids(strategy)
		if len(pids) == 0 {
			t.Fatalf("%s never came up", strategy)
		}
		if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	load.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d requests failed", failed.Load(), served.Load())
	}
	for _, strategy := range []string{"asking", "cacheroute", "sticky"} {
		until(t, strategy+" to come up again", func() bool { return len(g.pids(strategy)) == 2 })
		if !strings.Contains(g.logged(), `"@message":"strategy is down; the rest of the chain decides"`) {
			t.Error("the log does not tell of the death")
		}
		until(t, strategy+" in the metrics", func() bool {
			m := g.get("/metrics")
			return strings.Contains(m, `gatewayd_plugin_up{plugin="`+strategy+`"} 1`) && strings.Contains(m, `gatewayd_plugin_restarts_total{plugin="`+strategy+`",reason="ended"} 1`)
		})
	}
	until(t, "a call of the restarted strategy", func() bool {
		resp, _, err := g.chat("again", false)
		return err == nil && resp.Header.Get("X-Gatewayd-Strategy") == "asking"
	})
	g.stop(syscall.SIGTERM)
}

func TestTwoGatewaysActAsOne(t *testing.T) {
	url, _ := redistest.Start(t)
	workers := []string{emulatedWorker(t), emulatedWorker(t), emulatedWorker(t), emulatedWorker(t)}
	file := filepath.Join(t.TempDir(), "gatewayd.yaml")
	text := unhurried + "state:\n  redis: " + url + "\n  sync_interval: 50ms\n  lookup_budget: 1s\nplan:\n  interval: 200ms\nstrategies: ['cacheroute:stated=0', sticky, joule]\nworkers:\n"
	for i, w := range workers {
		text += fmt.Sprintf("  - url: %s\n    id: w%d\n", w, i)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := startGateway(t, nil, "--config", file), startGateway(t, nil, "--config", file)
	planner, other := a, b
	until(t, "exactly one planner", func() bool {
		x, y := a.plan("cacheroute"), b.plan("cacheroute")
		if y.Planner {
			planner, other = b, a
		}
		return x.Version > 0 && y.Version > 0 && x.Planner != y.Planner
	})

	// Rates that only the other one sees appear in the planner's plan, and both
	// serve the same version.
	for i := range 16 {
		other.mustChat(fmt.Sprint("session-", i))
	}
	until(t, "the other gateway's keys in the planner's plan", func() bool { return planner.plan("cacheroute").Keys >= 16 })
	until(t, "one plan at both", func() bool {
		p, o := planner.plan("cacheroute"), other.plan("cacheroute")
		return p.Version == o.Version && p.Keys == o.Keys && fmt.Sprint(p.Table) == fmt.Sprint(o.Table)
	})

	// The planner dies: the other one takes the lease and goes on planning.
	version := other.plan("cacheroute").Version
	planner.cmd.Process.Kill()
	until(t, "the lease to move", func() bool { return other.plan("cacheroute").Planner })
	until(t, "a newer plan", func() bool { return other.plan("cacheroute").Version > version })
	other.stop(syscall.SIGTERM)
}

func TestSessionIsSharedByGateways(t *testing.T) {
	url, server := redistest.Start(t)
	file := filepath.Join(t.TempDir(), "gatewayd.yaml")
	// A second for the look-up: a machine under load may need more than the usual 2 ms.
	text := unhurried + "state:\n  redis: " + url + "\n  lookup_budget: 1s\nstrategies: [sticky]\nworkers:\n"
	for range 4 {
		text += "  - url: " + emulatedWorker(t) + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := startGateway(t, nil, "--config", file), startGateway(t, nil, "--config", file)
	until(t, "sticky's plan at both", func() bool { return a.plan("sticky").Bind > 0 && b.plan("sticky").Bind > 0 })
	home := map[string]string{}
	for i := range 24 {
		session := fmt.Sprint("session-", i)
		home[session] = a.mustChat(session)
	}
	until(t, "the holds in Redis", func() bool {
		n, err := server.Do("KEYS", "*:fact:hold*") // the answer's first line is their number
		if err != nil {
			t.Fatal(err)
		}
		found, err := strconv.Atoi(n)
		return err == nil && found >= len(home)
	})
	workers := map[string]bool{}
	for session, worker := range home {
		workers[worker] = true
		if got := b.mustChat(session); got != worker {
			t.Errorf("session %s went to %s through one gateway and to %s through the other", session, worker, got)
		}
	}
	if len(workers) < 2 {
		t.Error("all sessions went to one worker, so the test shows nothing")
	}
}
