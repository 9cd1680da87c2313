package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// burst sends far more than a worker and the queue have room for, wave after wave.
type burst struct {
	room, queue int           // requests at the worker, and in the queue
	requests    int           // of a burst, beyond both
	parallel    int           // of them at once
	waves       int           // bursts
	limit       time.Duration // of a refusal, its 99th percentile
}

// memoryGrowth is how many more bytes the gateway may take after the last wave than
// half-way, when the garbage collector knows what to expect.
const memoryGrowth = 16 << 20

// gate is a worker that answers one request each time it is told to.
type gate struct {
	*worker
	release chan struct{}
	arrived atomic.Int64
	mu      sync.Mutex
	order   []string // prompts in the order in which they came
}

func newGate() (*gate, error) {
	t := &gate{release: make(chan struct{})}
	var err error
	t.worker, err = newWorker(0, func(w http.ResponseWriter, r *http.Request, body string) {
		var asked struct{ Messages []struct{ Content string } }
		if json.Unmarshal([]byte(body), &asked) != nil || len(asked.Messages) == 0 {
			http.Error(w, "no prompt", http.StatusBadRequest)
			return
		}
		t.mu.Lock()
		t.order = append(t.order, asked.Messages[0].Content)
		t.mu.Unlock()
		t.arrived.Add(1)
		select {
		case <-t.release:
			answer(w)
		case <-r.Context().Done():
		}
	})
	return t, err
}

func (b burst) run(ctx context.Context, l *lab) (*result, error) {
	t, err := newGate()
	if err != nil {
		return nil, err
	}
	defer t.close()
	g, err := l.start(ctx, map[string]any{
		"workers": []any{map[string]any{"url": t.url, "concurrency": b.room}},
		"limits":  map[string]any{"queue": b.queue, "queue_wait": "10m"},
	}, t.worker)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	var r result
	var refusals times
	var half, last int64
	c := newClient(g.api)
	defer c.close()
	for wave := range b.waves {
		if err := b.wave(ctx, g, t, c, wave, &refusals, &r); err != nil {
			return nil, err
		}
		if last, err = g.memory(); err != nil {
			return nil, err
		}
		if wave <= b.waves/2 {
			half = last
		}
	}
	waits, err := g.metric("gatewayd_queue_wait_seconds_count", "")
	if err != nil {
		return nil, err
	}
	if int(waits) < b.waves*b.queue {
		r.breaks("%v waits are exported of %d", waits, b.waves*b.queue)
	}
	if last-half > memoryGrowth {
		r.exceeds("the gateway grew by %d MB in the second half, limit %d MB", (last-half)>>20, memoryGrowth>>20)
	}
	r.measure("%d refusals with 429 and Retry-After, p50, p99 and max: %v; %d queued ones in order; depth of %d and waits exported; memory %d MB half-way and %d MB at the end",
		len(refusals.all), &refusals, b.waves*b.queue, b.queue, half>>20, last>>20)
	r.within("p99 of a refusal", refusals.quantile(0.99), b.limit)
	return &r, nil
}

// wave fills worker and queue one by one, sends the burst, and lets all of them go.
func (b burst) wave(ctx context.Context, g *gateway, t *gate, c *client, wave int, refusals *times, r *result) error {
	var waiting sync.WaitGroup
	defer waiting.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.mu.Lock()
	t.order = nil
	t.mu.Unlock()
	already := t.arrived.Load()
	var sent []string
	for i := range b.room + b.queue {
		name := fmt.Sprintf("wave %d, request %d", wave, i)
		sent = append(sent, name)
		waiting.Go(func() {
			if err := c.ask(ctx, name, false); err != nil {
				r.breaks("%s: %v", name, err)
			}
		})
		if err := until(ctx, startLimit, func() (bool, error) {
			if i < b.room {
				return t.arrived.Load() == already+int64(i)+1, nil
			}
			depth, err := g.metric("gatewayd_queue_depth", "")
			return int(depth) == i-b.room+1, err
		}); err != nil {
			return fmt.Errorf("%s did not reach its place: %w", name, err)
		}
	}
	b.refused(ctx, c, refusals, r)
	for i := range b.room + b.queue {
		select {
		case t.release <- struct{}{}:
		case <-time.After(startLimit):
			return fmt.Errorf("wave %d: request %d did not come", wave, i)
		}
		due := already + int64(min(i+1+b.room, b.room+b.queue))
		if err := until(ctx, startLimit, func() (bool, error) { return t.arrived.Load() >= due, nil }); err != nil {
			return fmt.Errorf("wave %d: nothing follows request %d: %w", wave, i, err)
		}
	}
	waiting.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Equal(t.order, sent) {
		r.breaks("wave %d was served in another order: %v", wave, t.order)
	}
	return nil
}

// refused sends what there is no room for.
func (b burst) refused(ctx context.Context, c *client, refusals *times, r *result) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range b.parallel {
		all.Go(func() {
			for next.Add(1) <= int64(b.requests) {
				sent := time.Now()
				resp, err := c.send(ctx, "too much", false)
				if err != nil {
					r.breaks("a refusal failed: %v", err)
					continue
				}
				_, err = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				refusals.add(time.Since(sent))
				if after, wrong := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || wrong != nil || after < 1 || resp.StatusCode != http.StatusTooManyRequests {
					r.breaks("a refusal is %s, Retry-After %q: %v", resp.Status, resp.Header.Get("Retry-After"), err)
				}
			}
		})
	}
	all.Wait()
}
