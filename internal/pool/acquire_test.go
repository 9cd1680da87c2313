package pool

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

func TestStrategyIsAsked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, nil, routing("asked", func(_ context.Context, in router.Input) (router.Decision, error) {
			return to(len(in.Workers) - 1), nil
		}))
		defer w.Close()
		w.workers(0, 0, 0)
		a := w.acquire(router.Request{Key: 7, PromptTokens: 10})
		w.wants(a, "w2", "asked", "told")
		a.FirstToken()
		a.complete()
		w.idle()
		if n := w.metric("gatewayd_decisions_total", `strategy="asked"`, `reason="told"`); n != 1 {
			t.Errorf("%v decisions counted, want 1", n)
		}
		if n := w.metric("gatewayd_strategy_fallback_total"); n != 0 {
			t.Errorf("%v fallbacks counted, want none", n)
		}
	})
}

// A strategy that gives no usable answer costs at most its deadline, and the
// metrics name it, who decided instead, and why.
func TestNoAnswerFallsBack(t *testing.T) {
	for reason, route := range map[string]func(context.Context, router.Input) (router.Decision, error){
		"late": hang,
		"down": func(context.Context, router.Input) (router.Decision, error) { return router.Decision{}, plugin.ErrDown },
		"busy": func(context.Context, router.Input) (router.Decision, error) { return router.Decision{}, plugin.ErrBusy },
		"error": func(context.Context, router.Input) (router.Decision, error) {
			return router.Decision{}, errors.New("no")
		},
		"unusable": func(context.Context, router.Input) (router.Decision, error) { return to(17), nil },
	} {
		inBubble(t, func(t *testing.T) {
			w := newPool(t, nil, routing("first", route), routing("second", func(context.Context, router.Input) (router.Decision, error) { return to(1), nil }))
			defer w.Close()
			w.workers(0, 0)
			start := time.Now()
			a := w.acquire(router.Request{})
			w.wants(a, "w1", "second", "told")
			want := time.Duration(0)
			if reason == "late" {
				want = 25 * time.Millisecond
			}
			if took := time.Since(start); took != want {
				t.Errorf("%s: it took %v, want %v", reason, took, want)
			}
			if n := w.metric("gatewayd_strategy_fallback_total", `from="first"`, `to="second"`, `reason="`+reason+`"`); n != 1 {
				t.Errorf("%s: %v fallbacks counted, want 1", reason, n)
			}
			if n := w.metric("gatewayd_strategy_deadline_exceeded_total", `strategy="first"`); n != 0 != (reason == "late") {
				t.Errorf("%s: %v missed deadlines counted", reason, n)
			}
			a.complete()
			w.idle()
		})
	}
}

func TestHungStrategyIsSkipped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, nil, routing("hung", hang))
		defer w.Close()
		w.workers(0)
		for range 3 {
			w.acquire(router.Request{}).complete()
		}
		start := time.Now()
		for range 100 {
			w.acquire(router.Request{}).complete()
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("100 requests past a hung strategy took %v", took)
		}
		if n := w.metric("gatewayd_strategy_fallback_total", `from="hung"`, `reason="skipped"`); n != 100 {
			t.Errorf("%v of 100 skips counted", n)
		}
		w.idle()
	})
}

func TestStrategyComesBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, nil, routing("it", func(context.Context, router.Input) (router.Decision, error) { return to(0), nil }))
		defer w.Close()
		w.workers(0)
		w.SetStrategy(0, router.Info{}, false)
		a := w.acquire(router.Request{})
		w.wants(a, "w0", router.BuiltIn, "rest")
		a.complete()
		w.SetStrategy(0, router.Info{Name: "it", Version: "2", Routes: true}, true)
		a = w.acquire(router.Request{})
		w.wants(a, "w0", "it", "told")
		a.complete()
	})
}

// A client that leaves while its request is anywhere on its way leaves nothing.
func TestClientLeaves(t *testing.T) {
	store := &switched{Store: memory.New(memory.Options{})}
	store.set(false, true)
	waits := func(context.Context, router.Input) (router.Decision, error) {
		return router.Decision{Verdict: router.Wait, RetryAfter: time.Hour}, nil
	}
	for name, c := range map[string]struct {
		chain []Link
		room  int
	}{
		"asking":   {[]Link{routing("hung", hang)}, 0},
		"queueing": {nil, 1},
		"parked":   {[]Link{routing("waits", waits)}, 0},
		"fetching": {[]Link{binding("binds")}, 0},
	} {
		inBubble(t, func(t *testing.T) {
			w := newPool(t, func(c *Config) {
				c.Core.AskDeadline, c.Core.MaxWait = time.Hour, 2*time.Hour
				if name == "fetching" {
					c.Store, c.Shared, c.SyncInterval, c.Core.FetchDeadline = store, true, 100*time.Millisecond, time.Hour
				}
			}, c.chain...)
			defer w.Close()
			w.workers(c.room)
			pass(time.Second) // the plan is in force
			var first *Assignment
			if name == "queueing" {
				first = w.acquire(router.Request{})
			}
			gone := errors.New("the client is gone")
			ctx, leave := context.WithCancelCause(t.Context())
			done := make(chan error)
			go func() {
				_, err := w.Acquire(ctx, router.Request{Key: 2})
				done <- err
			}()
			synctest.Wait()
			if w.Lives() == 0 {
				t.Fatalf("%s: there is no request to cancel", name)
			}
			start := time.Now()
			leave(gone)
			if err := <-done; !errors.Is(err, gone) {
				t.Errorf("%s: error %v", name, err)
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("%s: leaving took %v", name, took)
			}
			if first != nil {
				first.complete()
			}
			w.idle()
		})
	}
}

// A store that hangs costs a request its budget once, and nothing more.
func TestFetchIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := &switched{Store: memory.New(memory.Options{})}
		w := newPool(t, func(c *Config) { c.Store, c.Shared, c.Core.FetchDeadline = store, true, 2*time.Millisecond }, binding("one"), binding("two"))
		defer w.Close()
		w.workers(0, 0)
		pass(time.Second)
		for _, c := range []struct {
			away, hangs bool
			took        time.Duration
			result      string
		}{{false, false, 0, "miss"}, {true, false, 0, "error"}, {false, true, 2 * time.Millisecond, "late"}} {
			store.set(c.away, c.hangs)
			start := time.Now()
			w.acquire(router.Request{Key: uint64(1 + w.Plans()[0].Holds)}).complete()
			if took := time.Since(start); took != c.took {
				t.Errorf("%s: the request took %v, want %v", c.result, took, c.took)
			}
			if n := w.metric("gatewayd_state_hold_lookups_total", `result="`+c.result+`"`); n != 1 {
				t.Errorf("%s: counted %v times", c.result, n)
			}
		}
		w.idle()
	})
}

func TestRetry(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, nil)
		defer w.Close()
		w.workers(0, 0)
		a := w.acquire(router.Request{})
		first := a.Worker().ID
		if err := a.Retry(t.Context()); err != nil || a.Worker().ID == first || a.Receipt().Attempt != 2 {
			t.Errorf("retry: %v, worker %s after %s", err, a.Worker().ID, first)
		}
		var refused *Refused
		if err := a.Retry(t.Context()); !errors.As(err, &refused) || refused.Code != router.NoAttempt {
			t.Errorf("with both workers tried: %v", err)
		}
		w.idle()
		if n := w.metric("gatewayd_retries_total"); n != 1 {
			t.Errorf("%v retries counted, want 1: the second found no worker", n)
		}
		if n := w.metric("gatewayd_refusals_total", `reason="attempts_exhausted"`); n != 1 {
			t.Errorf("%v refusals counted, want 1", n)
		}
	})
}
