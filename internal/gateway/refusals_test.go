package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
)

// Whoever is turned away for now learns when to come again, in whole seconds.
func TestRefusalsSayWhenToComeAgain(t *testing.T) {
	arrived, stay := make(chan struct{}, 1), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		arrived <- struct{}{}
		<-stay
		answerJSON(w, r, b)
	})
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Concurrency, c.Limits.QueueWait = 1, 50*time.Millisecond }, f)
	refused := func(code string, status int) {
		t.Helper()
		resp, text := w.post("/v1/chat/completions", hello)
		after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != status || !strings.Contains(text, `"code":"`+code+`"`) || err != nil || after < 1 || after > 60 || len(resp.Header["Retry-After"]) != 1 {
			t.Errorf("%s %s, Retry-After %q", resp.Status, text, resp.Header["Retry-After"])
		}
	}
	first := w.wire(t)
	first.say("%s", chatLine+framed)
	<-arrived
	refused("queue_timeout", http.StatusServiceUnavailable)
	pools := w.gateway.pools
	w.gateway.pools = noPools{}
	refused("no_worker", http.StatusServiceUnavailable)
	w.gateway.pools = pools
	w.gateway.inMemory.Add(w.gateway.room)
	refused("overloaded", http.StatusServiceUnavailable)
	w.gateway.inMemory.Add(-w.gateway.room)
	close(stay)
	first.hear("POST")
	w.idle()
}

// Classes of priority hold at the edge: those that wait go by class, then in
// order, and the last of the lowest class makes room for a higher one.
func TestPriorityInTheQueue(t *testing.T) {
	arrived, release := make(chan string), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		arrived <- r.Header.Get("X-Name")
		<-release
		answerJSON(w, r, b)
	})
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Concurrency, c.Limits.Queue = 1, 4 }, f)
	statuses := make(chan string, 6)
	send := func(name, class string) {
		resp, _, err := w.try(t.Context(), "/v1/chat/completions", hello, "X-Name", name, "X-Gatewayd-Priority", class)
		if err != nil {
			statuses <- err.Error()
			return
		}
		statuses <- fmt.Sprint(name, " ", resp.StatusCode)
	}
	go send("first", "low")
	if name := <-arrived; name != "first" {
		t.Fatal(name)
	}
	for i, class := range []string{"low", "normal", "high", "low"} {
		go send(fmt.Sprint(class, i), class)
		w.until("a request in the queue", func() bool { return w.lives() == i+2 })
	}
	go send("late", "high")
	if got := <-statuses; got != "low3 429" {
		t.Errorf("made room: %s", got)
	}
	for _, want := range []string{"high2", "late", "normal1", "low0"} {
		release <- struct{}{}
		if got := <-arrived; got != want {
			t.Errorf("%s was served, want %s", got, want)
		}
	}
	release <- struct{}{}
	for range 5 {
		if got := <-statuses; !strings.HasSuffix(got, " 200") {
			t.Error(got)
		}
	}
	w.idle()
}

// The limit for a request's body ends with the body: an answer, or its first
// token, may take longer.
func TestAnswersOutliveTheBodysLimit(t *testing.T) {
	const grace = 250 * time.Millisecond
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		select {
		case <-time.After(3 * grace):
		case <-r.Context().Done():
			return
		}
		if strings.Contains(string(b), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("t")+"data: [DONE]\n\n")
			return
		}
		answerJSON(w, r, b)
	})
	w := setup{pace: &pace{grace: grace, rate: 1 << 20, stall: long}}.world(t, f)
	var all sync.WaitGroup
	for _, p := range protocols {
		if p.tls {
			continue
		}
		client := p.client(t, nil)
		for _, body := range []string{hello, streamed} {
			all.Go(func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/v1/chat/completions", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := client.RoundTrip(req)
				if err != nil {
					t.Errorf("%s: %v", p.name, err)
					return
				}
				defer resp.Body.Close()
				if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(text), `"error"`) {
					t.Errorf("%s: %s %s, %v", p.name, resp.Status, text, err)
				}
			})
		}
	}
	all.Wait()
	w.idle()
}

// A worker's own ID for a request does not take the place of the gateway's.
func TestAnswersHaveTheGatewaysID(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		w.Header().Set("X-Request-Id", "the-workers")
		if r.Header.Get("X-Do") == "fail" {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		answerJSON(w, r, b)
	})
	w := newWorld(t, nil, f)
	for _, do := range []string{"", "fail"} {
		resp, _ := w.post("/v1/chat/completions", hello, "X-Request-Id", "the-clients", "X-Do", do)
		if ids := resp.Header["X-Request-Id"]; len(ids) != 1 || ids[0] != "the-clients" {
			t.Errorf("%s with IDs %q", resp.Status, ids)
		}
	}
	w.idle()
}

// A client that takes nothing of a stream is cut off, and the worker, which did
// its part, is not blamed.
func TestClientThatReadsNothingIsNotTheWorkersFault(t *testing.T) {
	f, left := newEndless(t)
	told := &heard{}
	w := setup{pace: &pace{grace: long, rate: 1, stall: 100 * time.Millisecond}, workers: told.behind}.world(t, f)
	w.wire(t).say("%s", fmt.Sprintf(postHead+"%s", len(streamed), streamed))
	<-left
	w.idle()
	if n := told.count(fleet.Broken); n > 0 {
		t.Errorf("the worker is blamed %d times", n)
	}
	if n := w.metric("gatewayd_attempts_total", `outcome="cancelled"`); n != 1 {
		t.Errorf("%v attempts count as cancelled", n)
	}
}

// A retry for which there is no worker is none: it takes nothing from the budget
// of those that there is one for.
func TestRetriesThatFindNobodyAreFree(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusServiceUnavailable) })
	w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 1000 }, f)
	for range 3 * budgetLeast {
		w.post("/v1/chat/completions", hello)
	}
	if n := w.metric("gatewayd_retries_denied_total"); n > 0 || len(f.seen()) != 3*budgetLeast {
		t.Errorf("%v retries were denied, %d calls", n, len(f.seen()))
	}
	w.idle()
}

// heard is what a fleet is told of its workers.
type heard struct {
	mu  sync.Mutex
	all []fleet.Outcome
}

type hearing struct {
	Workers
	to *heard
}

func (h *heard) behind(next Workers) Workers { return hearing{next, h} }

func (h hearing) Report(worker string, o fleet.Outcome) {
	h.to.mu.Lock()
	h.to.all = append(h.to.all, o)
	h.to.mu.Unlock()
	h.Workers.Report(worker, o)
}

func (h *heard) count(o fleet.Outcome) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, told := range h.all {
		if told == o {
			n++
		}
	}
	return n
}

// A gateway whose time is over starts nothing: what still comes is told so.
func TestStoppedGatewayStartsNothing(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	w.gateway.Stop()
	for _, body := range []string{hello, streamed} {
		resp, text := w.post("/v1/chat/completions", body)
		if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, `"code":"shutting_down"`) {
			t.Errorf("%s %s", resp.Status, text)
		}
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d requests reached the worker", n)
	}
	w.idle()
}
