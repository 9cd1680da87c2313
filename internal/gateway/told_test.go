package gateway

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
)

// What becomes of a request says something about its worker, or nothing: the fleet
// hears just that, once.
func TestWhatTheFleetHears(t *testing.T) {
	stream := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("t")+text)
		http.NewResponseController(w).Flush()
	}
	status := func(n int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, "no", n) }
	}
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		says   fleet.Outcome
		none   bool
	}{
		"whole":                {answer: func(w http.ResponseWriter) { answerJSON(w, nil, nil) }, says: fleet.Served},
		"stream":               {answer: func(w http.ResponseWriter) { stream(w, "data: [DONE]\n\n") }, says: fleet.Served},
		"400":                  {answer: status(400), none: true},
		"422":                  {answer: status(422), none: true},
		"429":                  {answer: status(429), none: true},
		"404":                  {answer: status(404), says: fleet.Missing},
		"500":                  {answer: status(500), says: fleet.Broken},
		"503":                  {answer: status(503), says: fleet.Broken},
		"reset":                {answer: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, says: fleet.Broken},
		"cut":                  {answer: func(w http.ResponseWriter) { stream(w, ""); panic(http.ErrAbortHandler) }, says: fleet.Broken},
		"without an end":       {answer: func(w http.ResponseWriter) { stream(w, "") }, says: fleet.Broken},
		"an error event":       {answer: func(w http.ResponseWriter) { stream(w, `data: {"error":{"code":500}}`+"\n\n") }, says: fleet.Broken},
		"the client's mistake": {answer: func(w http.ResponseWriter) { stream(w, `data: {"error":{"code":400}}`+"\n\n") }, none: true},
	} {
		told := &heard{}
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) { c.answer(w) })
		w := setup{workers: told.behind, config: func(c *config.Config) { c.Limits.Attempts = 1 }}.world(t, f)
		w.try(t.Context(), "/v1/chat/completions", streamed) // any answer is right
		w.idle()
		want := []fleet.Outcome{c.says}
		if c.none {
			want = nil
		}
		if len(told.all) != len(want) || len(want) == 1 && told.all[0] != want[0] {
			t.Errorf("%s: the fleet heard %v, want %v", name, told.all, want)
		}
	}
}

// The prompt of a stream is off the worker's books with its first token, while
// the rest of it comes.
func TestFirstTokenIsBooked(t *testing.T) {
	begin, end := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		<-begin
		io.WriteString(w, event("t"))
		http.NewResponseController(w).Flush()
		<-end
		io.WriteString(w, "data: [DONE]\n\n")
	})
	w := newWorld(t, nil, f)
	resp, err := http.Post(w.URL+"/v1/chat/completions", "application/json", strings.NewReader(streamed))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	queued := func() int { return w.set.Pools()["m"].Loads()[0].Load.QueuedTokens }
	if queued() == 0 {
		t.Error("no token of the prompt is booked")
	}
	close(begin)
	w.until("the first token to be booked", func() bool { return queued() == 0 })
	if m := w.set.Pools()["m"].Loads()[0].Load; m.InFlight != 1 || !m.TTFT.Known() {
		t.Errorf("%d in flight, time to the first token %v", m.InFlight, m.TTFT)
	}
	close(end)
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Error(err)
	}
	w.idle()
}

// The limits hold where a request is: in the queue, while a worker does not take
// its body, before a head when the first token is to come sooner, and behind one.
func TestLimitsHoldEverywhere(t *testing.T) {
	const short = 200 * time.Millisecond
	limits := config.Timeouts{Connect: long, ResponseHead: long, FirstToken: long, TokenGap: long, Total: long}
	silent := func(c net.Conn, _ *http.Request, _ []byte) bool { gone(c); return false }
	for name, c := range map[string]struct {
		change func(*config.Timeouts)
		worker func(f *fake, release chan struct{})
		serve  func(c net.Conn, r *http.Request, body []byte) bool
		size   int // of the prompt
		status int
		code   string
	}{
		"body": {change: func(t *config.Timeouts) { t.ResponseHead = short }, serve: silent, size: 20 << 20, status: 504, code: "timeout_response_head",
			worker: func(f *fake, release chan struct{}) { f.early = func(net.Conn, *http.Request) { <-release } }},
		"sooner": {change: func(t *config.Timeouts) { t.FirstToken = short }, serve: silent, status: 504, code: "timeout_first_token"},
		"behind the head": {change: func(t *config.Timeouts) { t.FirstToken, t.ResponseHead = 2*time.Second, 2*time.Second }, status: 200, code: "timeout_first_token",
			serve: func(c net.Conn, _ *http.Request, _ []byte) bool { writeRaw(c, streamHead); gone(c); return false }},
	} {
		release := make(chan struct{})
		f := newRaw(t, c.serve)
		if c.worker != nil {
			c.worker(f, release)
		}
		w := newWorld(t, func(cfg *config.Config) {
			cfg.Timeouts, cfg.Limits.Attempts = limits, 1
			c.change(&cfg.Timeouts)
		}, f)
		resp, text := w.post("/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"`+strings.Repeat("x", c.size)+`"}]}`)
		if resp.StatusCode != c.status || strings.Count(text, `"code":"`+c.code+`"`) != 1 {
			t.Errorf("%s: %s %s", name, resp.Status, text)
		}
		close(release)
		w.idle()
	}

	arrived := make(chan struct{}, 1)
	f := newFake(t, func(_ http.ResponseWriter, r *http.Request, _ []byte) { arrived <- struct{}{}; <-r.Context().Done() })
	w := newWorld(t, func(c *config.Config) {
		c.Timeouts, c.Workers[0].Concurrency, c.Limits.QueueWait = limits, 1, long
		c.Timeouts.Total = time.Second
	}, f)
	first := w.wire(t)
	first.say("%s", chatLine+framed)
	<-arrived
	second := w.wire(t)
	second.say("%s", chatLine+framed)
	w.until("a request in the queue", func() bool { return w.lives() != 1 })
	for _, c := range []*wire{first, second} {
		if resp, text := c.hear("POST"); resp.StatusCode != http.StatusGatewayTimeout || !strings.Contains(text, `"code":"timeout_total"`) {
			t.Errorf("%s %s", resp.Status, text)
		}
	}
	w.idle()
}

// An adapter's requests go to workers that have it, though others of its base
// model are idle; each worker gets its own key, and clients do not see which
// worker it was unless they may.
func TestAdapterKeysAndHiddenHeaders(t *testing.T) {
	with, without := newFake(t, answerJSON), newFake(t, answerJSON)
	list := with.Config.Handler
	with.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			io.WriteString(w, `{"data":[{"id":"m"},{"id":"lora","parent":"m"}]}`)
			return
		}
		list.ServeHTTP(w, r)
	})
	w := newWorld(t, func(c *config.Config) {
		c.Headers.Expose = false
		for i, key := range []string{"key-0", "key-1"} {
			c.Workers[i].Key = config.NewSecret(key)
		}
	}, without, with)
	w.until("the adapter to be known", func() bool {
		resp, _ := w.get(http.MethodGet, "/v1/models/lora")
		return resp.StatusCode == http.StatusOK
	})
	for range 10 {
		resp, text := w.post("/v1/chat/completions", strings.Replace(hello, `"m"`, `"lora"`, 1), "Authorization", "Bearer the-clients")
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s %s", resp.Status, text)
		}
		for name := range resp.Header {
			if strings.HasPrefix(name, "X-Gatewayd-") {
				t.Errorf("the client sees %s", name)
			}
		}
	}
	if n, m := len(without.seen()), len(with.seen()); n != 0 || m != 10 {
		t.Errorf("%d requests at the worker without it, %d at the one with it", n, m)
	}
	for _, r := range with.seen() {
		if got := r.header["Authorization"]; len(got) != 1 || got[0] != "Bearer key-1" {
			t.Errorf("the worker got %q", got)
		}
	}
	w.idle()
}
