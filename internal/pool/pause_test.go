package pool

import (
	"errors"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// A worker that has too much to do is left alone for a moment, then asked by one
// request; who waits for it goes by itself.
func TestPause(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, nil)
		w.workers(1, 0)
		defer w.Close()
		a, err := w.Acquire(t.Context(), router.Request{})
		for err == nil && a.Worker().ID != "w1" {
			b, again := w.Acquire(t.Context(), router.Request{})
			a.Finish(router.Ending{}, 0)
			a, err = b, again
		}
		if err != nil {
			t.Fatal(err)
		}
		a.Pause(0)
		if err := a.Retry(t.Context()); err != nil || a.Worker().ID != "w0" {
			t.Fatalf("%v at %s", err, a.Worker().ID)
		}
		began := time.Now()
		next, err := w.Acquire(t.Context(), router.Request{}) // w0 is full, w1 pauses
		if err != nil || next.Worker().ID != "w1" {
			t.Fatalf("%v", err)
		}
		if waited := time.Since(began); waited < time.Second || waited > 1250*time.Millisecond+tickEvery {
			t.Errorf("it waited %v", waited)
		}
		next.Pause(20 * time.Second)
		a.Pause(30 * time.Second)
		next.Finish(router.Ending{Outcome: router.Refused}, 0)
		a.Finish(router.Ending{Outcome: router.Refused}, 0)
		var refused *Refused
		if _, err = w.Acquire(t.Context(), router.Request{}); !errors.As(err, &refused) || refused.Code != router.Paused || refused.RetryAfter < 20*time.Second || refused.RetryAfter > 25*time.Second {
			t.Fatalf("%v", err)
		}
		pass(refused.RetryAfter)
		if a, err = w.Acquire(t.Context(), router.Request{}); err != nil || a.Worker().ID != "w1" {
			t.Fatalf("%v", err)
		}
		a.Finish(router.Ending{}, 0)
	})
}
