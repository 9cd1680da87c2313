package pool

import (
	"errors"
	"testing"

	"gatewayd/pkg/router"
)

// A full queue gives the place of the last of a lower class to a higher one: who
// has to leave is told at once, and nothing of it is left.
func TestFullQueueMakesRoom(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, func(c *Config) { c.Core.MaxQueue = 2 })
		defer w.Close()
		w.workers(1)
		running := w.acquire(router.Request{})
		out := make(chan queued, 8)
		w.send(t.Context(), out, "low", router.Request{Priority: -10})
		w.send(t.Context(), out, "normal", router.Request{})
		w.send(t.Context(), out, "high", router.Request{Priority: 10})
		var refused *Refused
		if got := <-out; got.name != "low" || !errors.As(got.err, &refused) || refused.Code != router.QueueFull {
			t.Errorf("%s left with %v", got.name, got.err)
		}
		w.send(t.Context(), out, "too low", router.Request{Priority: -10})
		if got := <-out; got.name != "too low" || !errors.As(got.err, &refused) {
			t.Errorf("%s left with %v", got.name, got.err)
		}
		for _, want := range []string{"high", "normal"} {
			running.complete()
			got := <-out
			if got.err != nil || got.name != want {
				t.Fatalf("%s came (%v), want %s", got.name, got.err, want)
			}
			running = got.a
		}
		running.complete()
		w.idle()
	})
}
