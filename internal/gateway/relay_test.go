package gateway

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
)

// asking is a streamed request whose client wants to know the usage.
const asking = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`

const usageEvent = `data: {"id":"c","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}}` + "\n\n"

// counted checks the tokens in the metrics.
func (w *world) counted(what string, input, cached, output float64) {
	w.t.Helper()
	i, c, o := w.metric("gatewayd_tokens_total", `type="input"`), w.metric("gatewayd_tokens_total", `type="cached"`), w.metric("gatewayd_tokens_total", `type="output"`)
	if i != input || c != cached || o != output {
		w.t.Errorf("%s: %v input, %v cached and %v output tokens counted, want %v, %v and %v", what, i, c, o, input, cached, output)
	}
}

// Usage is counted once, however the worker tells it.
func TestUsageIsCounted(t *testing.T) {
	stream := event("a") + event("b") + usageEvent + "data: [DONE]\n\n"
	var everywhere strings.Builder // vLLM's continuous usage
	for i := range 3 {
		fmt.Fprintf(&everywhere, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":%d,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\n", i)
	}
	whole := `{"id":"x","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}}`
	for name, c := range map[string]struct{ contentType, answer string }{
		"at the end":    {"text/event-stream", stream},
		"with CRLF":     {"TEXT/Event-Stream;charset=utf-8", strings.ReplaceAll(stream, "\n", "\r\n")},
		"everywhere":    {"text/event-stream", everywhere.String() + "data: [DONE]\n\n"},
		"no stream":     {"application/json", whole},
		"large answer":  {"application/json", `{"data":"` + strings.Repeat("x", 4*maxRead) + `",` + whole[1:]},
		"no line's end": {"text/event-stream", strings.TrimSpace(stream)},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("Content-Type", c.contentType)
			io.WriteString(w, c.answer)
		})
		w := newWorld(t, nil, f)
		if _, text := w.post("/v1/chat/completions", asking); text != c.answer {
			t.Errorf("%s: the client got %.200q", name, text)
		}
		w.idle()
		w.counted(name, 11, 8, 2)
	}
}

// A worker that zips its answer unasked is read all the same, and each event
// arrives as it is flushed. The client gets what its encoding says.
func TestZippedAnswers(t *testing.T) {
	sent, read := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		if r.Header.Get("Accept-Encoding") != "" {
			t.Error("the worker was asked for an encoding")
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(z, `{"usage":{"prompt_tokens":11,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range 5 {
			io.WriteString(z, event("t"))
			z.Flush()
			http.NewResponseController(w).Flush()
			sent <- struct{}{}
			<-read
		}
		io.WriteString(z, usageEvent+"data: [DONE]\n\n")
	})
	w := newWorld(t, nil, f)
	req, err := http.NewRequest(http.MethodPost, w.URL+"/v1/chat/completions", strings.NewReader(asking))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if e := resp.Header.Get("Content-Encoding"); e != "" {
		t.Errorf("the client is told of encoding %q", e)
	}
	for i := range 5 {
		<-sent
		got := make([]byte, len(event("t")))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != event("t") {
			t.Fatalf("event %d: %q, %v", i, got, err)
		}
		read <- struct{}{}
	}
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != usageEvent+"data: [DONE]\n\n" {
		t.Errorf("the end is %q, %v", rest, err)
	}
	w.idle()
	w.counted("stream", 11, 8, 2)
	if _, text := w.post("/v1/chat/completions", hello, "Accept-Encoding", "gzip"); !strings.HasPrefix(text, `{"usage"`) {
		t.Errorf("whole answer: %q", text)
	}
	w.counted("both", 22, 16, 4)
}

// An encoding that the gateway cannot read passes as it is.
func TestOpaqueAnswersPass(t *testing.T) {
	const bytes = "\x28\xb5\x2f\xfd anything"
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "zstd")
		io.WriteString(w, bytes)
	})
	w := newWorld(t, nil, f)
	resp, text := w.post("/v1/chat/completions", streamed)
	if resp.StatusCode != http.StatusOK || text != bytes || resp.Header.Get("Content-Encoding") != "zstd" {
		t.Errorf("%s %q %v", resp.Status, text, resp.Header)
	}
	w.idle()
}

// All choices come back, in both modes, and the request reaches the worker as
// it is.
func TestAllChoicesComeBack(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body []byte) {
		var asked struct {
			N      int
			Stream bool
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			t.Error(err)
		}
		if !asked.Stream {
			var choices []string
			for i := range asked.N {
				choices = append(choices, fmt.Sprintf(`{"index":%d,"message":{"content":"c"}}`, i))
			}
			fmt.Fprintf(w, `{"choices":[%s]}`, strings.Join(choices, ","))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range asked.N {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":%d,\"delta\":{\"content\":\"c\"}}]}\n\n", i)
		}
		io.WriteString(w, "data: [DONE]\n\n")
	})
	w := newWorld(t, nil, f)
	for _, stream := range []bool{false, true} {
		body := fmt.Sprintf(`{"model":"m","n":4,"stream":%v,"stream_options":{"include_usage":true},"stop":["a"],"logprobs":3,"tool_choice":"auto","response_format":{"type":"text"},"messages":[]}`, stream)
		_, text := w.post("/v1/chat/completions", body)
		for i := range 4 {
			if !strings.Contains(text, fmt.Sprintf(`"index":%d`, i)) {
				t.Errorf("stream %v: choice %d is missing in %s", stream, i, text)
			}
		}
		if seen := f.seen(); string(seen[len(seen)-1].body) != body {
			t.Errorf("the worker got %s", seen[len(seen)-1].body)
		}
	}
}

// What the worker itself says of an error is passed on, once, and counts.
func TestErrorsWithinAStream(t *testing.T) {
	for name, c := range map[string]struct {
		end     string
		breaker bool
	}{
		"with an end":    {`data: {"error":{"message":"out of memory","code":500}}` + "\n\ndata: [DONE]\n\n", true},
		"without an end": {`data: {"error":{"message":"out of memory"}}` + "\n\n", true},
		"by the client":  {`data: {"error":{"message":"too long","code":400}}` + "\n\ndata: [DONE]\n\n", false},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, event("t")+c.end)
		})
		w := newWorld(t, func(cfg *config.Config) { cfg.Breaker.Failures = 1 }, f)
		if _, text := w.post("/v1/chat/completions", streamed); text != event("t")+c.end {
			t.Errorf("%s: %q", name, text)
		}
		w.idle()
		if n := w.metric("gatewayd_requests_total", `outcome="failed"`); n != 1 {
			t.Errorf("%s: %v failed requests counted", name, n)
		}
		if down := func() bool { return w.set.Pools()["m"].Loads()[0].Down }; c.breaker {
			w.until(name+": the worker to leave rotation", down)
		} else if down() {
			t.Errorf("%s: the worker is out of rotation", name)
		}
	}
}

// A worker cannot send clients elsewhere.
func TestRedirectsAreNoAnswers(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		http.Redirect(w, r, "http://elsewhere.example/v1/chat/completions", http.StatusTemporaryRedirect)
	})
	w := newWorld(t, nil, f)
	resp, text := w.post("/v1/chat/completions", hello)
	if resp.StatusCode != http.StatusBadGateway || resp.Header.Get("Location") != "" || !strings.Contains(text, "worker_redirects") {
		t.Errorf("%s %s %v", resp.Status, text, resp.Header)
	}
	w.idle()
}

// A worker's 404 is an error in the log and the metrics, and no worker is asked
// twice for it. The worker's other requests do not suffer.
func TestMissingModelAtTheWorker(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		http.Error(w, "no such model", http.StatusNotFound)
	})
	w := newWorld(t, nil, f)
	for range 20 {
		w.post("/v1/chat/completions", hello)
	}
	w.idle()
	if n := len(f.seen()); n != 20 {
		t.Errorf("%d calls for 20 requests", n)
	}
	if n := w.metric("gatewayd_attempts_total", `outcome="status"`); n != 20 {
		t.Errorf("%v errors of the worker counted", n)
	}
	if n := w.metric("gen_ai_server_request_duration_seconds_count", `error_type="404"`); n != 20 {
		t.Errorf("%v errors of type 404 counted", n)
	}
	if !strings.Contains(w.log.String(), "[WARN]") || !strings.Contains(w.log.String(), "model=m") {
		t.Errorf("the log does not tell:\n%s", w.log)
	}
	m := w.set.Pools()["m"].Loads()[0]
	if m.Down {
		t.Error("the worker is out of rotation for what clients asked")
	}
	if m.Load.Latency.Known() {
		t.Errorf("refused requests taught the worker a latency of %v s", m.Load.Latency.Value)
	}
}

// The answer may be byte by byte, also within a character.
func TestByteByByte(t *testing.T) {
	stream := strings.ReplaceAll(event("🚀é日")+usageEvent, "\\U", "\\u") + "data: [DONE]\n\n"
	f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
		ok := writeRaw(c, streamHead)
		for i := range len(stream) {
			ok = ok && writeRaw(c, chunk(stream[i:i+1]))
		}
		return ok && writeRaw(c, "0\r\n\r\n")
	})
	w := newWorld(t, nil, f)
	if _, text := w.post("/v1/chat/completions", asking); text != stream {
		t.Errorf("the client got %q", text)
	}
	w.idle()
	w.counted("byte by byte", 11, 8, 2)
}

// An answer that is no stream teaches no time to the first token.
func TestWholeAnswersHaveNoFirstToken(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	w.post("/v1/chat/completions", hello)
	w.idle()
	if l := w.set.Pools()["m"].Loads()[0].Load; l.TTFT.Known() || !l.Latency.Known() {
		t.Errorf("time to first token %v, latency %v", l.TTFT, l.Latency)
	}
}

func TestStagesAreMeasured(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("t")+"data: [DONE]\n\n")
	})
	w := newWorld(t, nil, f)
	w.post("/v1/chat/completions", streamed)
	w.idle()
	for _, stage := range []string{"parse", "decide", "connect", "relay"} {
		if n := w.metric("gatewayd_overhead_seconds_count", `stage="`+stage+`"`); n != 1 {
			t.Errorf("stage %s was measured %v times", stage, n)
		}
	}
	if n := w.metric("gatewayd_overhead_seconds_count", `stage="queue"`); n != 0 {
		t.Error("a request that did not wait is among those that did")
	}
}
