package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatewayd/pkg/router"
)

// queued is what became of a request in the queue.
type queued struct {
	name string
	a    *Assignment
	err  error
}

// send asks for a worker in the background, and returns when the request waits.
func (w *world) send(ctx context.Context, out chan<- queued, name string, r router.Request) {
	r.ID = name
	go func() {
		a, err := w.Acquire(ctx, r)
		out <- queued{name, a, err}
	}()
	synctest.Wait()
}

func TestQueueOrderAndPriority(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, nil)
		defer w.Close()
		w.workers(1)
		running := w.acquire(router.Request{})
		out := make(chan queued, 8)
		for _, q := range []struct {
			name     string
			priority int
		}{{"first", 0}, {"second", 0}, {"urgent", 5}, {"third", 0}} {
			w.send(t.Context(), out, q.name, router.Request{Priority: q.priority})
		}
		if n := w.metric("gatewayd_queue_depth", `pool="m"`); n != 4 {
			t.Errorf("the depth is %v in the metrics, want 4", n)
		}
		for _, want := range []string{"urgent", "first", "second", "third"} {
			pass(time.Second)
			if len(out) > 0 {
				t.Fatalf("%s was served although no place was free", (<-out).name)
			}
			running.complete()
			got := <-out
			if got.err != nil || got.name != want {
				t.Fatalf("%s came (%v), want %s", got.name, got.err, want)
			}
			running = got.a
		}
		running.complete()
		w.idle()
		if n := w.metric("gatewayd_overhead_seconds_count", `stage="queue"`); n != 4 {
			t.Errorf("%v waits in the overhead, want 4", n)
		}
		if s := w.metric("gatewayd_overhead_seconds_sum", `stage="queue"`); s != 1+2+3+4 {
			t.Errorf("waits of %v s in the overhead, want 10", s)
		}
		if s := w.metric("gatewayd_overhead_seconds_sum", `stage="decide"`); s != 0 {
			t.Errorf("decisions took %v s, want none: waiting is not deciding", s)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, func(c *Config) { c.Core.MaxQueue, c.Core.MaxWait = 2, 30*time.Second })
		defer w.Close()
		w.workers(1)
		running := w.acquire(router.Request{})
		out := make(chan queued, 8)
		w.send(t.Context(), out, "first", router.Request{})
		pass(10 * time.Second)
		w.send(t.Context(), out, "second", router.Request{})
		var refused *Refused
		if _, err := w.Acquire(t.Context(), router.Request{}); !errors.As(err, &refused) || refused.Code != router.QueueFull {
			t.Errorf("beyond the queue: %v", err)
		}
		start := time.Now()
		for _, want := range []struct {
			name  string
			after time.Duration
		}{{"first", 20 * time.Second}, {"second", 30 * time.Second}} {
			got := <-out
			if !errors.As(got.err, &refused) || refused.Code != router.WaitedLong || got.name != want.name || time.Since(start) != want.after {
				t.Errorf("%s ended after %v with %v, want %s after %v", got.name, time.Since(start), got.err, want.name, want.after)
			}
		}
		running.complete()
		w.idle()
	})
}

// Whatever may free a place wakes the queue: not only a request that ends.
func TestQueueIsWoken(t *testing.T) {
	for name, free := range map[string]func(w *world, running *Assignment){
		"an end":        func(_ *world, running *Assignment) { running.complete() },
		"a retry":       func(w *world, running *Assignment) { _ = running.Retry(w.t.Context()) },
		"a new worker":  func(w *world, _ *Assignment) { w.workers(1, 1) },
		"more room":     func(w *world, _ *Assignment) { w.workers(2) },
		"peers go away": func(w *world, _ *Assignment) { w.Carry(nil) },
	} {
		inBubble(t, func(t *testing.T) {
			w := newPool(t, nil)
			defer w.Close()
			w.workers(1)
			running := w.acquire(router.Request{})
			if name == "peers go away" {
				w.workers(2)
				w.Carry([]router.WorkerLoad{{WorkerRef: router.WorkerRef{ID: "w0", Incarnation: 1}, InFlight: 1}})
			}
			out := make(chan queued, 1)
			w.send(t.Context(), out, name, router.Request{})
			if len(out) > 0 {
				t.Fatalf("%s: the request did not wait", name)
			}
			start := time.Now()
			free(w, running)
			got := <-out
			if got.err != nil || time.Since(start) != 0 {
				t.Errorf("%s: %v after %v", name, got.err, time.Since(start))
			}
			if got.a != nil {
				got.a.complete()
			}
			if name != "an end" && name != "a retry" {
				running.complete()
			}
			w.idle()
		})
	}
}

// A strategy's wish to wait is granted, and the strategy asked again.
func TestStrategyMakesWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		asked := 0
		w := newPool(t, nil, routing("waits", func(context.Context, router.Input) (router.Decision, error) {
			if asked++; asked < 3 {
				return router.Decision{Verdict: router.Wait, RetryAfter: time.Second}, nil
			}
			return to(0), nil
		}))
		defer w.Close()
		w.workers(0)
		start := time.Now()
		a := w.acquire(router.Request{})
		w.wants(a, "w0", "waits", "told")
		if took := time.Since(start); took < 2*time.Second || took > 2*time.Second+4*tickEvery || asked != 3 {
			t.Errorf("it took %v and %d questions", took, asked)
		}
		a.complete()
		w.idle()
	})
}

// Clients that leave at the very moment when places become free for them leave
// nothing either.
func TestClientsLeaveWhileWoken(t *testing.T) {
	const waiting = 64
	w := newPool(t, nil)
	defer w.Close()
	w.workers(1)
	for round := range 150 {
		running := w.acquire(router.Request{})
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range waiting {
			all.Go(func() {
				if a, err := w.Acquire(ctx, router.Request{}); err == nil {
					a.complete() // which wakes the next one
				}
			})
		}
		for w.Lives() <= waiting {
			runtime.Gosched()
		}
		all.Go(leave)
		running.complete()
		all.Wait()
		if n := w.Lives(); n != 0 {
			t.Fatalf("round %d: %d lives are left", round, n)
		}
	}
	w.idle()
}

// Many requests through few places, each ending in another way: nothing is left,
// nobody is forgotten.
func TestQueueUnderChurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, func(c *Config) { c.Core.MaxQueue, c.Core.MaxWait = 64, 200*time.Millisecond },
			routing("asked", func(ctx context.Context, in router.Input) (router.Decision, error) {
				if in.Seed%7 == 0 {
					return hang(ctx, in)
				}
				return router.Decision{Verdict: router.Verdict(in.Seed % 3), Ranking: []router.Placement{{}}}, nil
			}))
		defer w.Close()
		w.workers(2, 2)
		const n = 400
		done := make(chan queued, n)
		for i := range n {
			go func() {
				<-time.After(time.Duration(1+i%50) * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%300)*time.Millisecond)
				defer cancel()
				a, err := w.Acquire(ctx, router.Request{ID: fmt.Sprint(i), Key: uint64(i % 9), Priority: i % 3})
				for err == nil && i%5 == 0 && a.Receipt().Attempt < 3 {
					if err = a.Retry(ctx); err != nil {
						a = nil
					}
				}
				if a != nil {
					<-time.After(time.Duration(1+i%20) * time.Millisecond)
					a.FirstToken()
					a.Finish(router.Ending{Outcome: router.Outcome(i % 3)}, 0)
				}
				done <- queued{err: err}
			}()
		}
		served := 0
		for range n {
			if q := <-done; q.err == nil {
				served++
			}
		}
		if served == 0 || served == n {
			t.Errorf("%d of %d served: the test shows nothing", served, n)
		}
		w.idle()
	})
}
