package worker

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatewayd/benchlab/engine"
)

// stopwatch notes when each token of a stream is written.
type stopwatch struct {
	*httptest.ResponseRecorder
	begun  time.Time
	tokens []time.Duration
}

func (w *stopwatch) Write(data []byte) (int, error) {
	for range bytes.Count(data, []byte(`"delta":{"content":`)) {
		w.tokens = append(w.tokens, time.Since(w.begun))
	}
	return w.ResponseRecorder.Write(data)
}

func chatBody(words, tokens int) string {
	return fmt.Sprintf(`{"model":"llama","stream":true,"max_tokens":%d,"messages":[{"role":"user","content":%q}]}`,
		tokens, strings.Repeat("abc ", words))
}

func post(ctx context.Context, body string) *http.Request {
	return httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
}

type turn struct {
	at            time.Duration
	words, tokens int
}

// turns overlap, share prefixes, queue up (eight sequences run at a time) and
// outlast the queue's prefill chunks.
func turns() (list []turn) {
	for i := range 40 {
		list = append(list, turn{
			at:    time.Duration(i)*7*time.Millisecond + time.Duration(i*i)*1001*time.Nanosecond,
			words: 50 + i*37%900, tokens: 5 + i*13%50,
		})
	}
	return list
}

func small(t *testing.T) engine.Profile {
	p := profile(t)
	p.MaxSeqs, p.MaxBatchedTokens, p.KVBlocks = 8, 512, 300
	return p
}

// simulate drives the bare engine through the same turns in virtual time.
func simulate(t *testing.T, s *Server, turns []turn) (tokens [][]time.Duration) {
	e, err := engine.New(small(t))
	if err != nil {
		t.Fatal(err)
	}
	tokens = make([][]time.Duration, len(turns))
	serve := func(until time.Duration) {
		for end, busy := e.End(); busy && end <= until; end, busy = e.End() {
			e.Finish(end)
			for id := range e.Producing() {
				tokens[id] = append(tokens[id], end)
			}
			e.Start(end, end)
		}
	}
	for i, x := range turns {
		serve(x.at)
		text := []byte("user\x00" + strings.Repeat("abc ", x.words) + "assistant\x00")
		r := s.newJob(text, x.tokens, "length").request
		r.ID = uint64(i)
		if err := e.Submit(x.at, r); err != nil {
			t.Fatal(err)
		}
		e.Start(x.at, x.at)
	}
	serve(engine.Forever)
	return tokens
}

// TestTwin holds that a worker in wall time sends every token when the engine
// in virtual time produces it.
func TestTwin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Config{Profile: small(t)})
		list := turns()
		want := simulate(t, s, list)
		got := play(t, s, list)
		queued := 0
		for i, x := range list {
			if !slices.EqualFunc(got[i].tokens, want[i], within(time.Microsecond)) {
				t.Errorf("turn %d: tokens at %v, engine says %v", i, got[i].tokens, want[i])
			}
			if len(want[i]) != x.tokens {
				t.Errorf("turn %d: %d tokens, want %d", i, len(want[i]), x.tokens)
			}
			if want[i][0]-x.at > 100*time.Millisecond {
				queued++
			}
		}
		if queued == 0 {
			t.Error("nobody had to queue: the test is too easy")
		}
	})
}

// within allows for timers, which are rounded up to a nanosecond each.
func within(tolerance time.Duration) func(a, b time.Duration) bool {
	return func(a, b time.Duration) bool { return max(a-b, b-a) <= tolerance }
}

func TestSpeedDividesTime(t *testing.T) {
	elapsed := func(speed float64) (wall time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, Config{Speed: speed})
			w := &stopwatch{ResponseRecorder: httptest.NewRecorder(), begun: time.Now()}
			s.Handler().ServeHTTP(w, post(t.Context(), chatBody(1000, 50)))
			wall = time.Since(w.begun)
		})
		return wall
	}
	one, ten := elapsed(1), elapsed(10)
	if one < 300*time.Millisecond {
		t.Errorf("1,000 prompt and 50 output tokens took only %v", one)
	}
	if !within(time.Microsecond)(ten, one/10) {
		t.Errorf("at speed 10 they took %v, at speed 1 %v", ten, one)
	}
}

// lateClock is a clock whose timers fire late, as on a busy machine.
type lateClock struct{ systemClock }

func (c lateClock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	return c.systemClock.Timer(d + 3*time.Millisecond)
}

// TestLateTimers: each token may be late, but no later for the tokens before it,
// and who comes while a step's end is overdue does not slip into the next step.
func TestLateTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Config{Profile: small(t), Clock: lateClock{}})
		list := turns()[:12]
		for i := range list {
			list[i].at *= 10 // nobody queues: all run as soon as they may
		}
		want := simulate(t, s, list)
		got := play(t, s, list)
		for i := range list {
			if !slices.EqualFunc(got[i].tokens, want[i], within(3*time.Millisecond+time.Microsecond)) {
				t.Errorf("turn %d: tokens at %v, engine says %v", i, got[i].tokens, want[i])
			}
		}
	})
}

// play sends the turns to the worker on schedule and waits for the answers.
func play(t *testing.T, s *Server, turns []turn) (got []*stopwatch) {
	begun := time.Now()
	var clients sync.WaitGroup
	for _, x := range turns {
		w := &stopwatch{ResponseRecorder: httptest.NewRecorder(), begun: begun}
		got = append(got, w)
		clients.Go(func() {
			<-time.After(x.at) // of the bubble's clock: the schedule itself
			s.Handler().ServeHTTP(w, post(t.Context(), chatBody(x.words, x.tokens)))
		})
	}
	clients.Wait()
	return got
}
