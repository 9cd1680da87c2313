package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// reuse loads one worker through many connections at once, then with streams.
type reuse struct {
	rate    int // requests a second, whether or not those before are answered
	busy    int // requests at once, by the time that the worker takes
	span    time.Duration
	streams int // all at once, afterwards
}

// The least part of requests on connections that were there already, and of the rate.
const (
	leastReused = 0.95
	leastRate   = 0.9
)

func (u reuse) run(ctx context.Context, l *lab) (*result, error) {
	takes := time.Duration(u.busy) * time.Second / time.Duration(u.rate)
	together := make(chan struct{}) // closed once all streams have begun
	w, err := newWorker(0, func(w http.ResponseWriter, r *http.Request, body string) {
		if !strings.Contains(body, `"stream":true`) {
			if pause(r.Context(), takes) {
				answer(w)
			}
			return
		}
		begin(w)
		say(w, "first")
		select {
		case <-together:
			finish(w)
		case <-r.Context().Done():
		}
	})
	if err != nil {
		return nil, err
	}
	defer w.close()
	g, err := l.start(ctx, nil, w)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	var r result
	c := newClient(g.api)
	defer c.close()
	u.load(ctx, c, w, takes, &r)
	u.open(ctx, c, together, &r)
	return &r, ctx.Err()
}

// load sends requests at an even rate. With twice as many at once as are asked for it
// waits, which makes the rate less.
func (u reuse) load(ctx context.Context, c *client, w *worker, takes time.Duration, r *result) {
	before, total := w.opened.Load(), int(u.span.Seconds()*float64(u.rate))
	var took times
	var failed atomic.Int64
	places, most := make(chan struct{}, 2*u.busy), 0
	var all sync.WaitGroup
	began := time.Now()
	for i := range total {
		if !pause(ctx, time.Until(began.Add(time.Duration(i)*time.Second/time.Duration(u.rate)))) {
			break
		}
		places <- struct{}{}
		most = max(most, len(places))
		all.Go(func() {
			defer func() { <-places }()
			sent := time.Now()
			if err := c.ask(ctx, fmt.Sprintf("session %d", i%u.busy), false); err != nil {
				failed.Add(1)
				r.breaks("request %d: %v", i, err)
			}
			took.add(time.Since(sent) - takes)
		})
	}
	all.Wait()
	rate := float64(total) / time.Since(began).Seconds()
	opened := w.opened.Load() - before
	reused := 1 - float64(opened)/float64(total)
	r.measure("%d requests, %.0f a second, up to %d at once, %d failed; %d connections opened, %.1f %% reused; added p50, p99 and max: %v",
		total, rate, most, failed.Load(), opened, 100*reused, &took)
	if rate < leastRate*float64(u.rate) {
		r.exceeds("only %.0f requests a second of %d: the machine is too busy", rate, u.rate)
	}
	if reused < leastReused {
		r.exceeds("%d connections for %d requests", opened, total)
	}
}

// open opens streams one after the other and holds them all.
func (u reuse) open(ctx context.Context, c *client, together chan struct{}, r *result) {
	took := make([]time.Duration, u.streams)
	var begun, ended sync.WaitGroup
	begun.Add(u.streams)
	started := time.Now()
	for i := range u.streams {
		// Five hundred a second.
		pause(ctx, time.Until(started.Add(time.Duration(i)*2*time.Millisecond)))
		ended.Go(func() {
			first := sync.OnceFunc(begun.Done)
			defer first() // a stream that fails has begun as much as it will
			sent := time.Now()
			resp, err := c.send(ctx, fmt.Sprintf("stream %d", i), true)
			if err != nil {
				r.breaks("stream %d: %v", i, err)
				return
			}
			defer resp.Body.Close()
			whole := false
			err = events(resp, func(data string, at time.Time) {
				if token(data) != "" {
					took[i] = at.Sub(sent)
					first()
				}
				whole = data == "[DONE]"
			})
			if err != nil || !whole {
				r.breaks("stream %d did not end well: %v %v", i, resp.Status, err)
			}
		})
	}
	begun.Wait()
	close(together)
	ended.Wait()
	fifth := max(1, u.streams/5)
	early, later := times{all: took[:fifth]}, times{all: took[u.streams-fifth:]}
	r.measure("%d streams at once; first token of the first fifth (p50, p99, max): %v, of the last fifth: %v", u.streams, &early, &later)
	r.within("median first token of the last fifth, over that of the first", later.quantile(0.5)-early.quantile(0.5), 10*time.Millisecond)
}
