package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

const hello = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

func answerJSON(w http.ResponseWriter, _ *http.Request, _ []byte) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"id":"x","model":"m","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`)
}

func TestBytesPassThroughAndSecretsDoNot(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	// Unknown fields, exponents, big integers, escapes and blanks stay as they are.
	body := "{ \"model\" : \"m\",\"seed\":9007199254740993, \"temperature\":1.0e-0, \"x_new\":{\"a\":[1,2.50]},\n\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"h\\u00e9\"}]}]}"
	resp, answer := w.post("/v1/chat/completions", body,
		"Authorization", "Bearer client-secret", "X-Api-Key", "client-secret", "Api-Key", "client-secret", "Cookie", "a=client-secret",
		"Connection", "X-Dropped", "X-Dropped", "1", "X-Kept", "2", "X-Gatewayd-Worker", "w9", "Te", "trailers")
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(answer, `{"id":"x"`) {
		t.Fatalf("%s %s", resp.Status, answer)
	}
	got := f.seen()[0]
	if string(got.body) != body {
		t.Errorf("the worker got %q", got.body)
	}
	if text := fmt.Sprint(got.header); strings.Contains(text, "client-secret") {
		t.Errorf("the client's credentials reached the worker: %s", text)
	}
	for _, name := range []string{"X-Dropped", "Te", "X-Gatewayd-Worker"} {
		if got.header.Get(name) != "" {
			t.Errorf("header %s reached the worker", name)
		}
	}
	if got.header.Get("X-Kept") != "2" || got.header.Get("X-Request-Id") != resp.Header.Get("X-Request-Id") {
		t.Errorf("headers at the worker: %v", got.header)
	}
	w.idle()
}

func TestErrorsAreOpenAIs(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, func(c *config.Config) { c.Limits.BodyBytes = 2048 }, f)
	for _, c := range []struct {
		path, body, header, value string
		status                    int
		code                      string
	}{
		{"/v1/chat/completions", `{"model":`, "", "", 400, "invalid_request"},
		{"/v1/chat/completions", `[]`, "", "", 400, "invalid_request"},
		{"/v1/chat/completions", `{"messages":[]}`, "", "", 400, "invalid_request"},
		{"/v1/chat/completions", `{"model":7,"messages":[]}`, "", "", 400, "invalid_request"},
		{"/v1/chat/completions", `{"model":"m"}`, "", "", 400, "invalid_request"},
		{"/v1/chat/completions", `{"model":"m","messages":"hi"}`, "", "", 400, "invalid_request"},
		{"/v1/chat/completions", `{"model":"m","messages":[],"stream":"yes"}`, "", "", 400, "invalid_request"},
		{"/v1/chat/completions", `{"model":"other","messages":[]}`, "", "", 404, "model_not_found"},
		{"/v1/chat/completions", `{"model":"m","messages":["` + strings.Repeat("x", 4096) + `"]}`, "", "", 413, "body_too_large"},
		{"/v1/chat/completions", hello, "Content-Encoding", "gzip", 415, "unsupported_encoding"},
		{"/v1/nothing", hello, "", "", 404, "not_found"},
		{"/v1/models", hello, "", "", 405, "method_not_allowed"},
	} {
		var header []string
		if c.header != "" {
			header = []string{c.header, c.value}
		}
		resp, text := w.post(c.path, c.body, header...)
		var body struct {
			Error struct{ Message, Type, Code string }
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil || resp.StatusCode != c.status || body.Error.Code != c.code || body.Error.Message == "" || body.Error.Type == "" {
			t.Errorf("%s %.40s: status %d, %s (%v)", c.path, c.body, resp.StatusCode, text, err)
		}
		if resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s %.40s: headers %v", c.path, c.body, resp.Header)
		}
	}
	if n := len(f.seen()); n > 0 {
		t.Errorf("%d of the wrong requests reached the worker", n)
	}
}

func TestPathsAreForgiving(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	for _, path := range []string{"/v1/chat/completions", "/v1/chat/completions/", "//v1//chat/completions", "/v1/chat/completions?a=b"} {
		if resp, text := w.post(path, hello); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", path, resp.Status, text)
		}
	}
	for i, r := range f.seen() {
		if want := "/v1/chat/completions"; !strings.HasPrefix(r.path, want) {
			t.Errorf("request %d reached %s", i, r.path)
		}
	}
	for base, want := range map[string]string{
		"http://h": "http://h/v1/embeddings", "http://h/": "http://h/v1/embeddings", "http://h/v1": "http://h/v1/embeddings",
		"http://h/v1/": "http://h/v1/embeddings", "http://h/a/b/": "http://h/a/b/v1/embeddings",
	} {
		if u := endpoint(parse(t, base), "/v1/embeddings"); u.String() != want {
			t.Errorf("endpoint of %s is %s, want %s", base, u.String(), want)
		}
	}
}

func TestWorkerErrorsPassUnchanged(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 413, 422, 429, 500} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "7")
			w.Header().Set("X-Ratelimit-Remaining-Requests", "0")
			w.WriteHeader(status)
			io.WriteString(w, `{"error":{"message":"the worker's own"}}`)
		})
		w := newWorld(t, nil, f)
		resp, text := w.post("/v1/chat/completions", hello)
		if resp.StatusCode != status || text != `{"error":{"message":"the worker's own"}}` || resp.Header.Get("Retry-After") != "7" || resp.Header.Get("X-Ratelimit-Remaining-Requests") != "0" {
			t.Errorf("status %d became %s %s %v", status, resp.Status, text, resp.Header)
		}
		if n := len(f.seen()); n != 1 {
			t.Errorf("status %d: %d attempts", status, n)
		}
		w.idle()
	}
}

func TestRetryBeforeTheFirstByte(t *testing.T) {
	for name, failure := range map[string]func(w http.ResponseWriter, r *http.Request, body []byte){
		"reset": func(http.ResponseWriter, *http.Request, []byte) { panic(http.ErrAbortHandler) },
		"429":   func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusTooManyRequests) },
		"503":   func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusServiceUnavailable) },
	} {
		bad, good := newFake(t, failure), newFake(t, answerJSON)
		w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 1000 }, bad, good)
		long := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("long ", 100_000) + `"}]}`
		for range 8 {
			resp, text := w.post("/v1/chat/completions", long)
			if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Gatewayd-Worker") != "w1" {
				t.Errorf("%s: %s %.100s from %s", name, resp.Status, text, resp.Header.Get("X-Gatewayd-Worker"))
			}
		}
		if len(bad.seen()) == 0 {
			t.Errorf("%s: the bad worker was never tried, so the test shows nothing", name)
		}
		for _, r := range good.seen() {
			if string(r.body) != long {
				t.Errorf("%s: the second worker got %d of %d bytes", name, len(r.body), len(long))
			}
		}
		w.idle()
	}
}

func TestLastErrorIsTheWorkersOwn(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, "loading")
	})
	w := newWorld(t, nil, f)
	resp, text := w.post("/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusServiceUnavailable || text != "loading" || resp.Header.Get("Retry-After") != "3" {
		t.Errorf("%s %q %v", resp.Status, text, resp.Header)
	}
	w.idle()
}

func TestDeadWorkerIsAGatewayError(t *testing.T) {
	f, breakIt := breakable(t, newFake(t, answerJSON))
	w := newWorld(t, nil, f)
	breakIt()
	resp, text := w.post("/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(text, `"code":"worker_unreachable"`) {
		t.Errorf("%s %s", resp.Status, text)
	}
	w.idle()
}

// event is one server-sent event of a chat stream.
func event(content string) string {
	return fmt.Sprintf("data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", content)
}

func TestStreamIsRelayedAsItComes(t *testing.T) {
	sent, read := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
		flush := http.NewResponseController(w).Flush
		for i := range 20 {
			io.WriteString(w, ": keep-alive\n\n"+event(fmt.Sprint("é", i)))
			flush()
			sent <- struct{}{}
			<-read // the client has this event before the next one is written
		}
		io.WriteString(w, "data: [DONE]\n\n")
	})
	w := newWorld(t, nil, f)
	resp, err := http.Post(w.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for i := range 20 {
		<-sent
		want := ": keep-alive\n\n" + event(fmt.Sprint("é", i))
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("event %d: %q, %v", i, got, err)
		}
		read <- struct{}{}
	}
	rest, err := io.ReadAll(resp.Body)
	if err != nil || string(rest) != "data: [DONE]\n\n" {
		t.Errorf("the end is %q, %v", rest, err)
	}
	w.idle()
}

func TestBrokenStreamSaysSo(t *testing.T) {
	for name, end := range map[string]func(w http.ResponseWriter){
		"reset":   func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"no DONE": func(http.ResponseWriter) {},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 5 {
				io.WriteString(w, event("t"))
			}
			http.NewResponseController(w).Flush()
			end(w)
		})
		other := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) { f.answer(w, r, b) })
		w := newWorld(t, nil, f, other)
		resp, text, err := w.try(t.Context(), "/v1/chat/completions", `{"model":"m","stream":true,"messages":[]}`)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %v", name, resp, err)
		}
		last := text[strings.LastIndex(strings.TrimSpace(text), "data: ")+len("data: "):]
		var e struct{ Error struct{ Code string } }
		if err := json.Unmarshal([]byte(last), &e); err != nil || e.Error.Code != "worker_broke" {
			t.Errorf("%s: the stream ends in %q", name, last)
		}
		if n := len(f.seen()) + len(other.seen()); n != 1 {
			t.Errorf("%s: %d workers were called", name, n)
		}
		w.idle()
		if n := w.metric("gatewayd_attempts_total", `outcome="broken"`); n != 1 {
			t.Errorf("%s: the worker is blamed %v times", name, n)
		}
	}
}

func TestClientThatLeavesIsGone(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		arrived <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	w := newWorld(t, nil, f)
	for _, body := range []string{hello, `{"model":"m","stream":true,"messages":[]}`} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.try(ctx, "/v1/chat/completions", body)
		}()
		<-arrived
		cancel()
		<-gone
		<-done
		w.idle()
	}
	if n := len(f.seen()); n != 2 {
		t.Errorf("%d calls for two requests: a cancelled one was tried again", n)
	}
}

func TestQueueIsBoundedAndInOrder(t *testing.T) {
	release := make(chan struct{})
	arrived := make(chan string, 10)
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, b []byte) {
		arrived <- r.Header.Get("X-Name")
		<-release
		answerJSON(w, r, b)
	})
	w := newWorld(t, func(c *config.Config) { c.Workers[0].Concurrency, c.Limits.Queue = 1, 2 }, f)
	results := make(chan int, 4)
	send := func(name string) {
		resp, _, err := w.try(t.Context(), "/v1/chat/completions", hello, "X-Name", name)
		if err != nil {
			results <- 0
			return
		}
		results <- resp.StatusCode
	}
	go send("first")
	<-arrived
	p := w.set.Pools()["m"]
	for i, name := range []string{"second", "third"} {
		go send(name)
		w.until("a request in the queue", func() bool { return p.Lives() == i+2 })
	}
	resp, text := w.post("/v1/chat/completions", hello, "X-Name", "fourth")
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" || !strings.Contains(text, "queue_full") {
		t.Errorf("beyond the queue: %s %s", resp.Status, text)
	}
	for _, want := range []string{"second", "third"} {
		release <- struct{}{}
		if got := <-arrived; got != want {
			t.Errorf("%s was served, want %s", got, want)
		}
	}
	release <- struct{}{}
	for range 3 {
		if status := <-results; status != http.StatusOK {
			t.Errorf("a queued request got status %d", status)
		}
	}
	w.idle()
}
