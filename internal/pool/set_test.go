package pool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// logged is a log that can be read while it is written.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// setWorld is a set with a fleet of workers that are healthy and serve models.
type setWorld struct {
	*Set
	t     *testing.T
	log   *logged
	fleet *fleet.Fleet
	urls  []string
}

func setConfig(log io.Writer, strategies ...StrategySpec) SetConfig {
	return SetConfig{
		Gateway: "g", Strategies: strategies, Core: router.Config{AskDeadline: 5 * time.Second}, Store: memory.New(memory.Options{}),
		PlanTimeout: 5 * time.Second, Telemetry: telemetry.Off(), Logger: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info}),
	}
}

// newSet starts a set and a fleet of n workers that serve the models.
func newSet(t *testing.T, n int, models []string, strategies ...StrategySpec) *setWorld {
	t.Helper()
	w := &setWorld{t: t, log: &logged{}}
	set, err := NewSet(t.Context(), setConfig(w.log, strategies...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	w.Set = set
	for range n {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(server.Close)
		w.urls = append(w.urls, server.URL)
	}
	probe := config.Default().Probe
	probe.Interval, probe.Successes = 50*time.Millisecond, 1
	w.fleet, err = fleet.New(w.specs(models), fleet.Options{Probe: probe, OnChange: set.Update})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.fleet.Close)
	for _, model := range models {
		w.until("the workers of "+model, func() bool { return w.up(model) == n })
	}
	return w
}

func (w *setWorld) specs(models []string) []fleet.Spec {
	var c config.Config
	for i, u := range w.urls {
		c.Workers = append(c.Workers, config.Worker{URL: u, ID: fmt.Sprint("w", i), Models: models})
	}
	specs, err := fleet.Specs(c, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return specs
}

// up counts the workers of a model that are up.
func (w *setWorld) up(model string) (n int) {
	if p := w.Pools()[model]; p != nil {
		for _, m := range p.Loads() {
			if !m.Down {
				n++
			}
		}
	}
	return n
}

// until waits for a condition; its limit is for hangs, not for speed.
func (w *setWorld) until(what string, ok func() bool) {
	w.t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-limit:
			w.t.Fatalf("waited in vain for %s; the log:\n%s", what, w.log)
		case <-tick.C:
		}
	}
}

// decider says which strategy decides a request for the model.
func (w *setWorld) decider(model string) string {
	w.t.Helper()
	p, _, ok := w.Lookup(model)
	if !ok {
		w.t.Fatalf("there is no pool for %s", model)
	}
	a, err := p.Acquire(w.t.Context(), router.Request{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer a.complete()
	return a.Receipt().Strategy
}

func TestKilledStrategyComesBack(t *testing.T) {
	w := newSet(t, 2, []string{"m", "n"}, spec("one", nil))
	for _, model := range []string{"m", "n"} {
		w.until("decisions for "+model, func() bool { return w.decider(model) == "one" })
	}
	for round := range 3 {
		pid := w.Processes()[0].Pid
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		w.until("another process", func() bool { p := w.Processes()[0]; return p.Phase == plugin.Up && p.Pid != pid })
		for _, model := range []string{"m", "n"} {
			w.until("decisions for "+model, func() bool { return w.decider(model) == "one" })
		}
		if n := scrape(t, w.cfg.Telemetry.Metrics, "gatewayd_plugin_restarts_total", `plugin="one"`); n != float64(round+1) {
			t.Errorf("%v restarts counted, want %d", n, round+1)
		}
	}
}

// A strategy that dies at its start is tried again; the others route meanwhile.
func TestDyingStrategyDoesNotStopTheGateway(t *testing.T) {
	w := newSet(t, 1, []string{"m"}, spec("dies", nil), spec("two", nil))
	w.until("decisions by the other strategy", func() bool { return w.decider("m") == "two" })
	if log := w.log.String(); !strings.Contains(log, "strategy=dies") || !strings.Contains(log, "the licence has run out") {
		t.Errorf("the log does not say what the strategy died of:\n%s", log)
	}
	if n := scrape(t, w.cfg.Telemetry.Metrics, "gatewayd_plugin_up", `plugin="dies"`); n != 0 {
		t.Errorf("plugin_up is %v", n)
	}
}

// What no second start would mend is an error, and nothing is left running.
func TestHopelessStrategyIsAnError(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("\x7fELF not really"), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(path string) StrategySpec { s := spec("s", nil); s.Process.Path = path; return s }
	other := spec("s", nil)
	other.Process.Strategy = "another"
	for name, c := range map[string]struct {
		spec StrategySpec
		want error
		says string
	}{
		"missing":        {at(filepath.Join(dir, "none")), os.ErrNotExist, "no such file"},
		"not executable": {at(plain), os.ErrPermission, "permission denied"},
		"no program":     {at(text), syscall.ENOEXEC, "exec format error"},
		"not a strategy": {spec("prints", nil), plugin.ErrInvalid, "hello from something else"},
		"wrong option":   {spec("s", router.Options{"speed": "9"}), plugin.ErrOption, `unknown option "speed"`},
		"another name":   {other, plugin.ErrUnknownStrategy, "another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &logged{}
			set, err := NewSet(t.Context(), setConfig(log, spec("good", nil), c.spec))
			if err == nil {
				set.Close()
				t.Fatal("it started")
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "strategy "+c.spec.Name) {
				t.Errorf("error %v", err)
			}
			if n := strings.Count(log.String(), "plugin ended"); n == 0 {
				t.Errorf("the other strategy was left running:\n%s", log)
			}
		})
	}
}

// An instance that could not be made is made later; the model is served
// meanwhile, by the rest of the chain.
func TestInstanceIsMadeLater(t *testing.T) {
	hang := filepath.Join(t.TempDir(), "hang")
	w := newSet(t, 1, nil, spec("one", router.Options{"hang": hang}))
	if err := os.WriteFile(hang, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.fleet.Set(w.specs([]string{"m"})); err != nil {
		t.Fatal(err)
	}
	w.until("the worker", func() bool { return w.up("m") == 1 })
	if by := w.decider("m"); by != router.BuiltIn {
		t.Errorf("%s decided", by)
	}
	if err := os.Remove(hang); err != nil {
		t.Fatal(err)
	}
	w.until("decisions by the strategy", func() bool { return w.decider("m") == "one" })
}

func TestPoolsComeAndGo(t *testing.T) {
	w := newSet(t, 1, []string{"m", "n"}, spec("one", nil))
	old := w.Pools()["n"]
	a, err := old.Acquire(t.Context(), router.Request{})
	if err != nil {
		t.Fatal(err)
	}
	set := func(models ...string) {
		t.Helper()
		if err := w.fleet.Set(w.specs(models)); err != nil {
			t.Fatal(err)
		}
	}
	set("m")
	w.until("the model to go", func() bool { _, _, ok := w.Lookup("n"); return !ok })
	if w.Pools()["n"] == nil {
		t.Error("a pool with a request in flight is gone")
	}
	var refused *Refused
	if _, err := old.Acquire(t.Context(), router.Request{}); !errors.As(err, &refused) || refused.Code != router.NoWorker {
		t.Errorf("a request for the model that went: %v", err)
	}
	a.complete()
	set("m", "k")
	w.until("the pool to go", func() bool { return w.Pools()["n"] == nil })
	set("n")
	w.until("the model to come back", func() bool { return w.up("n") == 1 })
	w.until("decisions when the model is back", func() bool { return w.decider("n") == "one" })
	// Any number of models may come and go, while loads are taken over.
	stop := make(chan struct{})
	var loading sync.WaitGroup
	loading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				w.Loads(w.fleet)
			}
		}
	})
	defer loading.Wait()
	defer close(stop)
	for i := range 2 * maxPools {
		name := fmt.Sprint("model-", i)
		set(name)
		w.until(name, func() bool { return w.up(name) == 1 })
	}
}
