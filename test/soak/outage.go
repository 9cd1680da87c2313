package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// outage serves sessions that this gateway has never seen, so that each asks Redis,
// while Redis fails in every way.
type outage struct {
	rate   int           // requests a second
	span   time.Duration // of each state
	settle time.Duration // at its begin, in which the first failures are met
	added  time.Duration // most that a failing Redis may add to p99
	back   time.Duration // most until a Redis that is back is used again
}

func (o outage) run(ctx context.Context, l *lab) (*result, error) {
	socket := filepath.Join(l.folder, "redis")
	redis := exec.CommandContext(ctx, "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", l.folder)
	if err := redis.Start(); err != nil {
		return nil, fmt.Errorf("%w\nhint: apt-get install -y redis-server", err)
	}
	defer func() {
		_ = redis.Process.Kill()
		_ = redis.Wait()
	}()
	p, err := newProxy(socket)
	if err != nil {
		return nil, err
	}
	defer p.close()
	w, err := newWorker(0, func(w http.ResponseWriter, _ *http.Request, _ string) { answer(w) })
	if err != nil {
		return nil, err
	}
	defer w.close()
	g, err := l.start(ctx, map[string]any{
		"state":      map[string]any{"redis": "redis://" + p.address},
		"strategies": []string{"sticky"},
	}, w)
	if err != nil {
		return nil, err
	}
	defer g.stop()
	var r result
	if err := o.up(ctx, g, 1); err != nil {
		return nil, fmt.Errorf("no use is made of Redis: %w", err)
	}
	c := newClient(g.api)
	defer c.close()
	well := o.load(ctx, c, "well", &r)
	r.measure("well (p50, p99, max): %v", well)
	for _, s := range []state{frozen, refused, slow} {
		p.set(s)
		took := o.load(ctx, c, s.String(), &r)
		if s != slow { // a slow one may be up
			if err := o.up(ctx, g, 0); err != nil {
				return nil, fmt.Errorf("%v: nobody notices: %w", s, err)
			}
		}
		p.set(through)
		began := time.Now()
		if err := o.up(ctx, g, 1); err != nil {
			return nil, fmt.Errorf("after %v: Redis is not used again: %w", s, err)
		}
		back := time.Since(began)
		r.measure("%v: %v, back after %s", s, took, milli(back))
		r.within(fmt.Sprintf("%v: p99 over that of a Redis that is well", s), took.quantile(0.99)-well.quantile(0.99), o.added)
		r.within(fmt.Sprintf("%v: used again", s), back, o.back)
	}
	return &r, ctx.Err()
}

// up waits until the gateway says that Redis is up (1) or not (0).
func (o outage) up(ctx context.Context, g *gateway, want float64) error {
	return until(ctx, startLimit, func() (bool, error) {
		up, err := g.metric("gatewayd_state_up", "")
		return up == want, err
	})
}

// load sends requests at an even rate and returns the times of those that came after
// the state had settled.
func (o outage) load(ctx context.Context, c *client, name string, r *result) *times {
	var took times
	var all sync.WaitGroup
	began, settled := time.Now(), int(o.settle.Seconds()*float64(o.rate))
	for i := range int(o.span.Seconds() * float64(o.rate)) {
		if !pause(ctx, time.Until(began.Add(time.Duration(i)*time.Second/time.Duration(o.rate)))) {
			break
		}
		all.Go(func() {
			sent := time.Now()
			if err := c.ask(ctx, fmt.Sprintf("%s %d", name, i), false); err != nil && !errors.Is(err, context.Canceled) {
				r.breaks("%s: request %d: %v", name, i, err)
			}
			if i >= settled {
				took.add(time.Since(sent))
			}
		})
	}
	all.Wait()
	return &took
}
