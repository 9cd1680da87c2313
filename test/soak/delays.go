package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// types are ways to say that an answer is a stream of events.
var types = []string{"text/event-stream; charset=utf-8", "Text/Event-Stream", `TEXT/EVENT-STREAM;Charset="UTF-8"`}

// delays times each event of streams from the worker's write to the client's read,
// through the gateway and, for comparison, on the straight way.
type delays struct {
	streams int // one after the other
	events  int
	gap     time.Duration
	limit   time.Duration // of what the gateway adds to the slowest event
}

func (d delays) run(ctx context.Context, l *lab) (*result, error) {
	var next atomic.Int64
	w, err := newWorker(0, func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", types[next.Add(1)%int64(len(types))])
		flush(w)
		for range d.events {
			if !pause(r.Context(), d.gap) {
				return
			}
			say(w, strconv.FormatInt(time.Now().UnixNano(), 10))
		}
		finish(w)
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
	var through, direct times
	for range d.streams {
		var both sync.WaitGroup
		both.Go(func() { d.stream(ctx, g.api, &through, &r) })
		both.Go(func() { d.stream(ctx, w.url, &direct, &r) })
		both.Wait()
	}
	r.measure("%d events, p50, p99 and max: %v; without the gateway %v", len(through.all), &through, &direct)
	r.within("the slowest event, over the slowest without the gateway", through.quantile(1)-direct.quantile(1), d.limit)
	return &r, nil
}

// stream reads one stream and notes how late each of its events is.
func (d delays) stream(ctx context.Context, base string, late *times, r *result) {
	c := newClient(base)
	defer c.close()
	resp, err := c.send(ctx, "delays", true)
	if err != nil {
		r.breaks("a stream did not begin: %v", err)
		return
	}
	defer resp.Body.Close()
	got := 0
	err = events(resp, func(data string, at time.Time) {
		if written, err := strconv.ParseInt(token(data), 10, 64); err == nil {
			late.add(at.Sub(time.Unix(0, written)))
			got++
		}
	})
	if err != nil || got != d.events {
		r.breaks("%s: %d events of %d: %v", fmt.Sprint(resp.Header["Content-Type"]), got, d.events, err)
	}
}
