package main

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestRequests(t *testing.T) {
	for name, c := range map[string]struct {
		request []byte
		size    int
	}{"small": {small("h", 7), 2 << 10}, "large": {large("h", 7), 200 << 10}} {
		_, body, ok := strings.Cut(string(c.request), "\r\n\r\n")
		if !ok || len(body) < c.size || len(body) > c.size+c.size/8 {
			t.Errorf("%s: a body of %d bytes, want about %d", name, len(body), c.size)
		}
	}
	if n := len(completion(1 << 10)); n != 1<<10 {
		t.Errorf("an answer of %d bytes, want 1024", n)
	}
}

func TestClosed(t *testing.T) {
	c := serve(t)
	stop, done := make(chan struct{}), new(atomic.Int64)
	wait, err := closed(c, 4, large, stop, done)
	if err != nil {
		t.Fatal(err)
	}
	for done.Load() < 100 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	close(stop)
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	took, err := open(t.Context(), serve(t), 200, 500, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(took) != 113 || quantile(took, 0) <= 0 { // the arrivals are the same in every run
		t.Errorf("%d answers, the fastest after %v; want 113", len(took), quantile(took, 0))
	}
}

func TestStreams(t *testing.T) {
	events, err := streams(serve(t), 5, 4, time.Millisecond)
	if err != nil || events != 5*5 {
		t.Errorf("%d events, %v; want 5 streams of 4 and a [DONE]", events, err)
	}
}

func TestFirsts(t *testing.T) {
	took, err := firsts(serve(t), 3)
	if err != nil || len(took) != 3 || quantile(took, 0) <= 0 {
		t.Errorf("%v, %v; want three times", took, err)
	}
}

func TestHold(t *testing.T) {
	looked := errors.New("looked")
	if err := hold(serve(t), 40, func() error { return looked }); err != looked {
		t.Errorf("got %v, want the look's own error", err)
	}
}

// TestMissingProgram holds that a contender that is not installed is told of.
func TestMissingProgram(t *testing.T) {
	c := &contender{name: "nginx"}
	err := c.start(scene{}, nil, "no-such-program-here")
	if err == nil || !strings.Contains(err.Error(), "apt-get install") {
		t.Errorf("got %v, want a hint", err)
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"-repeats", "0"}, {"-gap", "0s"}, {"more"}, {"-unknown"}} {
		if err := command(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
