package worker

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestDisconnect: a client that leaves, streaming or not, early or late, frees
// its place in the engine with the end of the step.
func TestDisconnect(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		for _, stay := range []time.Duration{0, time.Millisecond, 200 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, Config{})
				ctx, cancel := context.WithTimeout(t.Context(), stay)
				defer cancel()
				body := strings.Replace(chatBody(100, 5000), "true", stream, 1)
				s.Handler().ServeHTTP(httptest.NewRecorder(), post(ctx, body))
				<-time.After(20 * time.Millisecond)
				stats, err := s.Stats(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if stats.Running+stats.Waiting+stats.UsedBlocks != 0 || stats.GeneratedTokens > 30 {
					t.Errorf("stream %s, left after %v: %+v", stream, stay, stats)
				}
				if n := s.inFlight.Load(); n != 0 {
					t.Errorf("%d requests in flight", n)
				}
			})
		}
	}
}

// TestDisconnectOverHTTP does the same with a real connection, on a clock that
// stands still, so that the request would never end by itself.
func TestDisconnectOverHTTP(t *testing.T) {
	s := start(t, Config{Clock: frozenClock{}})
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handler().ServeHTTP(w, r)
		close(left)
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(chatBody(10, 10)))
	if err != nil {
		t.Fatal(err)
	}
	w, err := server.Client().Do(r) // the head comes before the first token
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	cancel()
	<-left
	var jobs int
	if err := s.ask(t.Context(), func(a *actor) { jobs = len(a.jobs) }); err != nil || jobs != 0 {
		t.Errorf("%d jobs are left, %v", jobs, err)
	}
}

// TestClose ends streams with an error in the stream, and refuses what comes later.
func TestClose(t *testing.T) {
	s := start(t, Config{Clock: frozenClock{}})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	w, err := server.Client().Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(chatBody(10, 10)))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	s.Close()
	s.Close() // twice does no harm
	data, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := `data: {"error":{"code":503,"message":"The engine is shut down.","param":null,"type":"ServiceUnavailableError"}}` +
		"\n\ndata: [DONE]\n\n"
	if string(data) != want {
		t.Errorf("stream ends with %q, want %q", data, want)
	}
	if err := s.Flush(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("Flush after Close: %v", err)
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Config{Timeout: time.Second})
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, post(t.Context(), strings.Replace(chatBody(10, 5000), "true", "false", 1)))
		if w.Code != http.StatusGatewayTimeout {
			t.Errorf("status %d, want 504: %s", w.Code, w.Body)
		}
	})
}

// TestBusy refuses the request above MaxInFlight and takes one again after.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Config{MaxInFlight: 2})
		codes := make(chan int, 4)
		ask := func() {
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, post(t.Context(), chatBody(10, 10)))
			codes <- w.Code
		}
		for range 3 {
			go ask()
		}
		<-time.After(time.Minute)
		ask()
		count := map[int]int{}
		for range 4 {
			count[<-codes]++
		}
		if count[200] != 3 || count[503] != 1 {
			t.Errorf("answers by status: %v, want 3 of 200 and 1 of 503", count)
		}
	})
}

// TestManyClients streams to many clients at once over real connections, some
// of which leave early, and finds nothing left behind.
func TestManyClients(t *testing.T) {
	s := start(t, Config{Clock: newEagerClock()})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	var clients sync.WaitGroup
	for i := range 60 {
		clients.Go(func() {
			tokens := 1 + i*7
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/chat/completions", strings.NewReader(chatBody(i*11, tokens)))
			if err != nil {
				t.Error(err)
				return
			}
			w, err := server.Client().Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Body.Close()
			got, last := 0, ""
			for lines := bufio.NewScanner(w.Body); lines.Scan(); {
				if line := lines.Text(); line != "" {
					last = line
				}
				if strings.Contains(last, `"delta":{"content":"`) && lines.Text() != "" {
					got++
				}
				if i%5 == 4 && got == 1 {
					return
				}
			}
			if got != tokens || last != "data: [DONE]" {
				t.Errorf("client %d: %d tokens of %d, last line %q", i, got, tokens, last)
			}
		})
	}
	clients.Wait()
	server.Close() // waits for the handlers
	if n := s.inFlight.Load(); n != 0 {
		t.Errorf("%d requests in flight", n)
	}
	var jobs int
	if err := s.ask(t.Context(), func(a *actor) { jobs = len(a.jobs) }); err != nil || jobs != 0 {
		t.Errorf("%d jobs are left, %v", jobs, err)
	}
}
