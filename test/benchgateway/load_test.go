package main

import (
	"errors"
	"io"
	"strings"
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

func TestTold(t *testing.T) {
	for name, c := range map[string]struct {
		out   string
		fails string
	}{
		"well":     {"Running 1s test\nRequests/sec: 9\ntold {\"Requests\":9,\"Failed\":0,\"Micros\":1000000}", ""},
		"failures": {"told {\"Requests\":9,\"Failed\":2,\"Micros\":1000000}", "2 of 11 requests failed"},
		"nothing":  {"told {\"Requests\":0,\"Failed\":0,\"Micros\":1000000}", "no request was answered"},
		"silence":  {"unable to connect", "told nothing"},
		"nonsense": {"told nan", "wrk told"},
	} {
		s, err := told([]byte(c.out))
		switch {
		case c.fails == "" && (err != nil || s != sent{9, 0, 1_000_000}):
			t.Errorf("%s: %v, %v", name, s, err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: %v, want an error with %q", name, err, c.fails)
		}
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
	for _, args := range [][]string{{"-repeats", "0"}, {"-gap", "0s"}, {"-place", "moon"}, {"more"}, {"-unknown"}} {
		if err := command(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
