package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// planned is a strategy whose plan is a table of n keys.
type planned struct{ keys int }

func (planned) RouteContext(context.Context, router.Input, plugin.TraceContext) (router.Decision, error) {
	return router.Decision{}, nil
}
func (planned) ObserveContext(context.Context, []router.Event) error { return nil }
func (p planned) PlanContext(_ context.Context, in router.PlanInput, _ plugin.TraceContext) (router.Plan, error) {
	plan := router.Plan{Guard: router.Guard{Of: router.InFlight, Factor: 1.25, Slack: 8}, Bind: router.Bind{TTL: time.Minute}, Note: "a note"}
	for _, w := range in.Fleet.Workers {
		plan.Workers = append(plan.Workers, router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation})
	}
	for i := range p.keys {
		plan.Table.Append(uint64(i+1), uint16(i%len(plan.Workers)))
	}
	return plan, nil
}

// gateway is what the pages are made from.
type gateway struct{ pools map[string]*pool.Pool }

func (g gateway) Pools() map[string]*pool.Pool { return g.pools }
func (g gateway) Processes() []pool.ProcessState {
	return []pool.ProcessState{
		{Name: "up", State: plugin.State{Phase: plugin.Up, Pid: 42, Restarts: 3}},
		{Name: "down", State: plugin.State{Phase: plugin.Down, Err: errors.New("it ended"), Wait: 2 * time.Second}},
	}
}

type workerList []fleet.Status

func (w workerList) Workers() []fleet.Status { return w }
func (w workerList) Sources() []fleet.SourceStatus {
	return []fleet.SourceStatus{{Name: "file a", Workers: 2, Found: time.Now()}, {Name: "dns b", Error: "no answer"}}
}

// serve returns the pages of a gateway with a plan of n keys.
func serve(t *testing.T, n int) http.Handler {
	t.Helper()
	p, err := pool.New(pool.Config{
		Gateway: "g", Core: router.Config{Pool: "m", PlanInterval: time.Hour}, Store: memory.New(memory.Options{}), PlanTimeout: time.Minute,
		Chain:     []pool.Link{{Link: router.Link{Name: "planned", Info: router.Info{Name: "planned", Plans: true}}, Strategy: planned{n}}},
		Telemetry: telemetry.Off(), Logger: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if err := p.SetFleet([]router.Member{{Worker: router.Worker{ID: "w0"}}, {Worker: router.Worker{ID: "w1"}}}); err != nil {
		t.Fatal(err)
	}
	for limit := time.After(time.Minute); len(p.Plans()) == 0; {
		select {
		case <-limit:
			t.Fatal("no plan was made")
		case <-time.After(time.Millisecond):
		}
	}
	if n > 0 { // the worker of key 1 has too much to do
		a, err := p.Acquire(t.Context(), router.Request{Key: 1})
		if err != nil {
			t.Fatal(err)
		}
		a.Pause(time.Hour)
		a.Finish(router.Ending{Outcome: router.Refused}, 0)
	}
	now := router.Time(time.Now().UnixNano())
	status := workerList{
		{ID: "w0", URL: "http://w0", Up: true, Breaker: "closed", Incarnation: 5, Engine: "vllm", Models: []string{"m"}, Adapters: []string{"a"}, KVTokens: 1000,
			Sample: fleet.Sample{PromptTokens: fleet.Figure{Value: 7, Known: true}},
			Gauges: fleet.Gauges{Running: router.Gauge{Value: 2, At: now.Add(-time.Hour)}, Waiting: router.Unknown, KVUsed: router.Unknown}},
		{ID: "w1", URL: "http://w1", Breaker: "open", Trouble: "no answer", Metrics: "status 404",
			Gauges: fleet.Gauges{Running: router.Unknown, Waiting: router.Unknown, KVUsed: router.Unknown}},
	}
	return New(Options{
		Version: "1.2.3", Token: config.NewSecret(testToken), Metrics: telemetry.Off().Metrics.Handler(),
		Gateway: gateway{map[string]*pool.Pool{"m": p}}, Workers: status, Changer: &changes{}, Shadows: &changes{},
	})
}

// ask sends a request and reads the answer as JSON.
func ask(t *testing.T, h http.Handler, method, path string, status int, into any) string {
	t.Helper()
	r, request := httptest.NewRecorder(), httptest.NewRequest(method, path, nil)
	request.Header.Set("Authorization", "Bearer "+testToken)
	h.ServeHTTP(r, request)
	b, _ := io.ReadAll(r.Result().Body)
	if r.Code != status {
		t.Errorf("%s %s: status %d, want %d: %.200s", method, path, r.Code, status, b)
	}
	if into != nil {
		if err := json.Unmarshal(b, into); err != nil || r.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v, type %q: %.200s", method, path, err, r.Header().Get("Content-Type"), b)
		}
	}
	return string(b)
}

func TestPlansOfManyKeys(t *testing.T) {
	const keys = 100_000
	h := serve(t, keys)
	for query, listed := range map[string]int{"": usualKeys, "?keys=0": 0, "?keys=3": 3, "?keys=100000": keys, "?keys=999999999": keys} {
		var plans []planView
		ask(t, h, http.MethodGet, "/plans"+query, http.StatusOK, &plans)
		if len(plans) != 1 || plans[0].Keys != keys || len(plans[0].Table) != listed {
			t.Fatalf("%q: %d plans, %d of %d keys are listed, want %d", query, len(plans), len(plans[0].Table), plans[0].Keys, listed)
		}
		p := plans[0]
		if p.Pool != "m" || p.Strategy != "planned" || p.Version != 1 || !p.Planner || len(p.Workers) != 2 || p.Rest != "abstain" || p.Note != "a note" || p.BindTTLS != 60 || p.Guard == nil || p.Guard.Slack != 8 || p.AgeS < 0 {
			t.Errorf("%q: %+v", query, p)
		}
		if listed >= 3 && fmt.Sprint(p.Table["0000000000000002"]) != "[w1]" {
			t.Errorf("%q: key 2 is at %v", query, p.Table["0000000000000002"])
		}
	}
	for _, wrong := range []string{"?keys=-1", "?keys=many", "?keys=1.5", "?keys=99999999999999999999"} {
		var e map[string]string
		if ask(t, h, http.MethodGet, "/plans"+wrong, http.StatusBadRequest, &e); !strings.Contains(e["error"], "keys") {
			t.Errorf("%s: %v", wrong, e)
		}
	}
}

// Names in JSON are in small letters, and what is unknown is not zero.
func TestWorkersAndStrategies(t *testing.T) {
	h := serve(t, 1)
	var workers []map[string]any
	text := ask(t, h, http.MethodGet, "/workers", http.StatusOK, &workers)
	text += ask(t, h, http.MethodGet, "/plans", http.StatusOK, nil) + ask(t, h, http.MethodGet, "/strategies", http.StatusOK, nil)
	for _, name := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(text, -1) {
		if name[1] != strings.ToLower(name[1]) {
			t.Errorf("a field is called %s", name[1])
		}
	}
	if len(workers) != 2 || workers[0]["id"] != "w0" || workers[0]["kv_tokens"] != 1000.0 || workers[0]["prompt_tokens_total"] != 7.0 {
		t.Fatalf("workers %v", workers)
	}
	running, _ := workers[0]["running"].(map[string]any)
	if age, _ := running["age_seconds"].(float64); running["value"] != 2.0 || age < 3600 || age > 3700 {
		t.Errorf("running %v", running)
	}
	if pause, _ := workers[0]["pauses_for_seconds"].(float64); pause <= 0 || pause > 75 {
		t.Errorf("it pauses for %v s", pause)
	}
	for _, name := range []string{"pauses_for_seconds", "running", "waiting", "kv_used", "kv_tokens", "prompt_tokens_total"} {
		if v, ok := workers[1][name]; ok {
			t.Errorf("%s of a worker that says nothing is %v", name, v)
		}
	}
	if workers[1]["trouble"] != "no answer" || workers[1]["metrics_error"] != "status 404" || fmt.Sprint(workers[1]["models"]) != "[]" {
		t.Errorf("worker %v", workers[1])
	}
	var chain []strategyView
	ask(t, h, http.MethodGet, "/strategies", http.StatusOK, &chain)
	if len(chain) != 3 || chain[0].Phase != "up" || chain[0].Pid != 42 || chain[1].Error != "it ended" || chain[1].WaitS != 2 || chain[2].Name != router.BuiltIn {
		t.Errorf("strategies %+v", chain)
	}
}

func TestPathsAndMethods(t *testing.T) {
	h := serve(t, 1)
	var version map[string]string
	if ask(t, h, http.MethodGet, "/version", http.StatusOK, &version); version["version"] != "1.2.3" {
		t.Errorf("version %v", version)
	}
	for _, path := range []string{"/metrics", "/health", "/healthz", "//plans/", "/workers/", "/strategies", "/shadow", "/config"} {
		ask(t, h, http.MethodGet, path, http.StatusOK, nil)
		ask(t, h, http.MethodHead, path, http.StatusOK, nil)
	}
	var e map[string]string
	ask(t, h, http.MethodGet, "/nothing", http.StatusNotFound, &e)
	ask(t, h, http.MethodPost, "/plans", http.StatusMethodNotAllowed, &e)
	if e["error"] == "" {
		t.Errorf("error %v", e)
	}
}
