package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// idle asks now and then workers that close idle connections without a word, also
// just when the next request comes.
type idle struct {
	every  time.Duration
	span   time.Duration
	closes []time.Duration // after so much idle time, a worker each
}

func (i idle) run(ctx context.Context, l *lab) (*result, error) {
	var r result
	var all sync.WaitGroup
	errs := make([]error, len(i.closes))
	for k, after := range i.closes {
		all.Go(func() { errs[k] = i.one(ctx, l, after, &r) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return &r, nil
}

// one asks one worker.
func (i idle) one(ctx context.Context, l *lab, after time.Duration, r *result) error {
	var mu sync.Mutex
	done := map[string]int{} // by the request's prompt
	w, err := newWorker(after, func(w http.ResponseWriter, _ *http.Request, body string) {
		mu.Lock()
		done[body]++
		mu.Unlock()
		answer(w)
	})
	if err != nil {
		return err
	}
	defer w.close()
	g, err := l.start(ctx, nil, w)
	if err != nil {
		return err
	}
	defer g.stop()
	c := newClient(g.api)
	defer c.close()
	before, asked := w.opened.Load(), 0
	for end := time.Now().Add(i.span); time.Now().Before(end); asked++ {
		if err := c.ask(ctx, fmt.Sprintf("request %d", asked), false); err != nil {
			r.breaks("closed after %v, request %d: %v", after, asked, err)
		}
		if !pause(ctx, i.every) {
			return context.Cause(ctx)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for body, n := range done {
		if n != 1 {
			r.breaks("closed after %v: a request was done %d times: %s", after, n, body)
		}
	}
	if len(done) != asked {
		r.breaks("closed after %v: the worker did %d requests of %d", after, len(done), asked)
	}
	r.measure("closed after %v: %d requests, each done once; %d connections, probes included", after, asked, w.opened.Load()-before)
	return nil
}
