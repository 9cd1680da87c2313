package plugin

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// states is a Spec.OnState that can be waited for.
type states chan State

func (s states) next(t *testing.T, want Phase) State {
	t.Helper()
	got := receive(t, want.String(), s)
	if got.Phase != want {
		t.Fatalf("state %+v, want %v", got, want)
	}
	return got
}

func supervised(t *testing.T, s Spec) (*Supervisor, states) {
	t.Helper()
	c := make(states, 1000)
	s.OnState = func(s State) { c <- s }
	s.Restart = Restart{First: 10 * time.Millisecond, Longest: 20 * time.Millisecond}
	sup, err := Supervise(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sup.Close)
	return sup, c
}

func TestKilledUnderLoad(t *testing.T) {
	sup, states := supervised(t, spec("good", "faulty"))
	states.next(t, Starting)
	up := states.next(t, Up)
	i, err := sup.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := sup.Open(t.Context(), nil, 1, "other pool")
	if err != nil || gone.Close() != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	served := make(chan struct{})
	var failed atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for !stop.Load() {
				d, err := i.RouteContext(t.Context(), request("x"), TraceContext{})
				switch {
				case err == nil && d.Reason == "x":
					select {
					case served <- struct{}{}:
					default:
					}
				case errors.Is(err, ErrDown):
					failed.Add(1)
					runtime.Gosched()
				default:
					t.Errorf("%+v, %v", d, err)
				}
				if _, err := i.Plan(router.PlanInput{Pool: "p"}); err != nil && !errors.Is(err, ErrDown) && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
				i.Observe([]router.Event{{Kind: router.Arrived}})
			}
		})
	}
	for restarts := 1; restarts <= 3; restarts++ {
		for range 100 {
			receive(t, "an answer", served)
		}
		if err := syscall.Kill(up.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		down := states.next(t, Down)
		if down.Err == nil || down.Wait <= 0 || down.Wait > time.Second {
			t.Errorf("down: %+v", down)
		}
		states.next(t, Starting)
		if up = states.next(t, Up); up.Restarts != restarts || up.Pid == 0 || up.Err != nil {
			t.Errorf("restart %d: %+v", restarts, up)
		}
		if d, err := i.RouteContext(t.Context(), request("x"), TraceContext{}); err != nil || d.Reason != "x" {
			t.Errorf("after restart %d: %+v, %v", restarts, d, err)
		}
	}
	stop.Store(true)
	callers.Wait()
	t.Logf("%d calls failed", failed.Load())
	if got := sup.State(); got.Phase != Up || got.Restarts != 3 || got.Plugin != "test" {
		t.Errorf("%+v", got)
	}
	if len(sup.instances) != 1 {
		t.Errorf("%d instances are kept", len(sup.instances))
	}
	sup.Close()
	states.next(t, Stopped)
	_, err = i.RouteContext(t.Context(), request("x"), TraceContext{})
	wantError(t, "a route after the end", err, ErrDown, "")
	_, err = sup.Open(t.Context(), nil, 1, "pool")
	wantError(t, "open after the end", err, ErrDown, "plugin test is stopped")
	noChildren(t)
}

func TestCallsFailFastWhileDown(t *testing.T) {
	sup, states := supervised(t, spec("good", "faulty"))
	i, err := sup.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	states.next(t, Starting)
	states.next(t, Up)
	_, err = i.RouteContext(t.Context(), request("crash"), TraceContext{})
	wantError(t, "a crash", err, ErrDown, "")
	down := states.next(t, Down)
	if want := "plugin test ended (exit status 2): panic: crash in route"; down.Err == nil || down.Err.Error() != want {
		t.Errorf("down because of %v, want %s", down.Err, want)
	}
}

func TestInstanceThatCannotBeReopened(t *testing.T) {
	sup, states := supervised(t, spec("good", "faulty"))
	states.next(t, Starting)
	up := states.next(t, Up)
	options := router.Options{"open": "once", "file": filepath.Join(t.TempDir(), "file")}
	i, err := sup.Open(t.Context(), options, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(up.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	states.next(t, Down)
	states.next(t, Starting)
	wantError(t, "up", states.next(t, Up).Err, ErrOption, "plugin test: open: option open=once: it was opened before")
	_, err = i.RouteContext(t.Context(), request("x"), TraceContext{})
	wantError(t, "a route", err, ErrDown, "")
}

// A process that ends again and again is left alone for longer, then tried once more.
func TestQuarantine(t *testing.T) {
	s := spec("good", "faulty")
	s.Quarantine = Quarantine{Crashes: 3, Within: time.Hour, For: 50 * time.Millisecond}
	sup, states := supervised(t, s)
	i, err := sup.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		for crash := 1; crash <= 3; crash++ {
			states.next(t, Starting)
			states.next(t, Up)
			_, err := i.RouteContext(t.Context(), request("crash"), TraceContext{})
			wantError(t, "a crash", err, ErrDown, "")
			want := Down
			if crash == 3 {
				want = Quarantined
			}
			down := states.next(t, want)
			if down.Err == nil || crash == 3 && down.Wait != s.Quarantine.For {
				t.Errorf("crash %d of round %d: %+v", crash, round, down)
			}
		}
	}
}

func TestCrashesAreForgotten(t *testing.T) {
	began := time.Unix(0, 0)
	c := crashes{Quarantine: Quarantine{Crashes: 3, Within: time.Minute}}
	for _, at := range []struct {
		second int
		many   bool
	}{{0, false}, {10, false}, {61, false}, {70, true}, {71, false}, {72, false}, {133, false}, {134, false}, {135, true}} {
		if got := c.tooMany(began.Add(time.Duration(at.second) * time.Second)); got != at.many {
			t.Errorf("at %d s: %v, want %v", at.second, got, at.many)
		}
	}
}

func TestFirstStartFails(t *testing.T) {
	s := spec("good", "")
	s.Path = filepath.Join(t.TempDir(), "none")
	_, err := Supervise(t.Context(), s)
	wantError(t, "supervise", err, fs.ErrNotExist, "hint: build it")

	s.KeepTrying = true
	sup, states := supervised(t, s)
	for range 3 {
		states.next(t, Starting)
		wantError(t, "down", states.next(t, Down).Err, fs.ErrNotExist, "")
	}
	_, err = sup.Open(t.Context(), nil, 1, "pool")
	wantError(t, "open", err, ErrDown, "plugin test is")
	_, err = sup.Describe()
	wantError(t, "describe", err, ErrDown, "")
}
