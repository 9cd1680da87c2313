package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/pkg/plugin/internal/teststrategy"
	"gatewayd/pkg/router"
)

var nan = math.NaN()

// patience bounds waits that end much earlier unless something is wrong.
const patience = 2 * time.Minute

// noRaceExit spares a race detector's second of patience at each exit.
const noRaceExit = "GORACE=atexit_sleep_ms=0"

// spec is a plugin of a kind that pluginMain knows.
func spec(kind, strategy string) Spec {
	stop := patience
	if kind != "good" {
		stop = 50 * time.Millisecond // it does not watch its standard input
	}
	return Spec{
		Name: "test", Path: os.Args[0], Args: []string{kind}, Strategy: strategy,
		Env:          []string{noRaceExit},
		RouteTimeout: patience, CallTimeout: patience, StartTimeout: patience, StopTimeout: stop,
	}
}

func started(t *testing.T, s Spec) *Process {
	t.Helper()
	p, err := Launch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func opened(t *testing.T, s Spec) *Instance {
	t.Helper()
	i, err := started(t, s).Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// local is the same strategy in this process.
func local(t *testing.T, name string) router.Instance {
	t.Helper()
	for _, d := range teststrategy.Definitions() {
		if d.Name == name {
			i, err := d.New(nil, 1)
			if err != nil {
				t.Fatal(err)
			}
			return i
		}
	}
	t.Fatal("no strategy", name)
	return nil
}

// request is an input for two workers whose request has the ID.
func request(id string) router.Input {
	return router.Input{Request: router.Request{ID: id}, Workers: []router.Worker{{ID: "a"}, {ID: "b"}}}
}

func wantError(t *testing.T, what string, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: error %q, want %q with %q", what, err, kind, text)
	}
}

// soon returns a context whose deadline passes while nobody answers.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// receive fails the test when c says nothing in time.
func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("waited too long for", what)
		panic("unreachable")
	}
}

// logged is a logger that writes to a buffer.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logged) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "gatewayd", Output: l, Level: hclog.Trace, DisableTime: true})
}

func workers(n int) []router.Worker {
	ws := make([]router.Worker, n)
	for i := range ws {
		ws[i] = router.Worker{ID: fmt.Sprintf("w%04d", i), Incarnation: 1, Concurrency: i}
	}
	return ws
}
