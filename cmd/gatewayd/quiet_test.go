package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatewayd/internal/telemetry/otlptest"
)

// A clean run says what comes up and goes, and nothing about requests.
func TestCleanRunIsQuiet(t *testing.T) {
	g := startGateway(t, nil, append([]string{"--log-level", "info", "--worker", emulatedWorker(t), "--worker", emulatedWorker(t)}, threeStrategies...)...)
	until(t, "both workers", func() bool { return strings.Count(g.logged(), "worker is up") == 2 })
	before := strings.Count(g.logged(), "\n")
	for i := range 50 {
		g.mustChat(fmt.Sprint(i % 7))
		if _, _, err := g.chat("stream", true); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(g.logged(), "\n"); n != before {
		t.Errorf("100 requests made %d lines in the log:\n%s", n-before, g.logged())
	}
	g.stop(syscall.SIGTERM)
	if log := g.logged(); strings.Contains(log, `"@level":"warn"`) || strings.Contains(log, `"@level":"error"`) || strings.Count(log, "\n") > 30 {
		t.Errorf("the log of a clean run:\n%s", log)
	}
}

// What passes through the gateway is nobody's business: prompts, answers, keys
// and queries appear in no log, metric, span or page, whatever becomes of them.
func TestNothingIsGivenAway(t *testing.T) {
	const canary = "c4n4ry"
	receiver := otlptest.Start(t)
	behind := emulatedWorker(t)
	more := make(chan struct{}, 100)
	worker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Worker-Says", canary)
		switch r.Header.Get("X-Do") {
		case "":
			proxy(t, behind, w, r)
		case "400", "503":
			http.Error(w, canary, map[string]int{"400": 400, "503": 503}[r.Header.Get("X-Do")])
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\ndata: {\"error\":{\"message\":%q}}\n\n", canary, canary)
		case "nonsense":
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(c, "HTTP/1.1 "+canary+" "+canary+"\r\n\r\n")
			c.Close()
		case "more":
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
			<-time.After(50 * time.Millisecond) // the connection waits for its next request
			io.WriteString(c, canary)
			c.Close()
			more <- struct{}{}
		}
	}))
	t.Cleanup(worker.Close)
	file := write(t, unhurried+"breaker: {failures: 1000}\nworkers: [{url: '"+worker.URL+"'}]\n")
	g := startGateway(t, receiver.Env(), "--log-level", "trace", "--config", file, "--plugin", askingPlugin(t), "--plugin", "cacheroute", "--plugin", "sticky")
	chat := func(content string) string {
		return `{"model":"m","user":"` + canary + `","prompt_cache_key":"` + canary + `","messages":[{"role":"user","content":"` + content + `"}]}`
	}
	requests, reached := 0, 0
	for _, do := range []string{"", "400", "503", "stream", "nonsense", "more"} {
		for _, body := range []string{chat(canary), strings.Replace(chat(canary), "{", `{"stream":true,`, 1), `{"model":"m","messages":"` + canary + `"}`, canary} {
			req, err := http.NewRequest(http.MethodPost, "http://"+g.api+"/v1/chat/completions?q="+canary+"&key="+canary, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"Authorization", "X-Api-Key", "Cookie", "X-Session-Id", "X-Other", "Baggage", "User-Agent"} {
				req.Header.Set(name, "a="+canary)
			}
			req.Header.Set("X-Do", do)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				continue // the answer broke off
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if requests++; resp.Header.Get("X-Gatewayd-Worker") != "" {
				reached++
			}
			if do == "more" && resp.StatusCode == http.StatusOK {
				<-more
			}
		}
	}
	if requests != 24 || reached != 12 {
		t.Fatalf("%d of 24 requests got an answer, %d of 12 reached the worker", requests, reached)
	}
	for _, path := range []string{"/metrics", "/plans?keys=1000", "/workers", "/strategies"} {
		if strings.Contains(g.get(path), canary) {
			t.Errorf("%s shows what passed through", path)
		}
	}
	spans := receiver.Wait(patience(t), func(spans []otlptest.Span) bool {
		return len(otlptest.Named(spans, "POST /v1/chat/completions")) >= requests
	})
	if text := fmt.Sprintf("%+v", spans); strings.Contains(text, canary) {
		t.Errorf("the spans show what passed through: %.2000s", text[max(0, strings.Index(text, canary)-1000):])
	}
	g.stop(syscall.SIGTERM)
	for line := range strings.Lines(g.logged()) {
		if strings.Contains(line, canary) {
			t.Errorf("the log shows what passed through: %s", line)
		}
	}
}

// Ctrl-C also ends a demo that has only begun.
func TestDemoEndsWhileItStarts(t *testing.T) {
	cmd := exec.Command(os.Args[0], "demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-level", "info")
	cmd.Env = append(os.Environ(), "GATEWAYD_TEST_RUN=1", "TMPDIR="+t.TempDir())
	var out output
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })
	until(t, "a strategy to start", func() bool { return strings.Contains(out.String(), "plugin started") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v:\n%s", err, out.String())
		}
	case <-patience(t).Done():
		t.Fatal("it did not end")
	}
}

// Only a busy port is exchanged for a free one.
func TestDemoSaysWhatIsWrong(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := process{stdout: io.Discard}
	busy := l.Addr().String()
	if got := freeAddress(p, busy); got != "127.0.0.1:0" {
		t.Errorf("for a busy port: %s", got)
	}
	for _, addr := range []string{"127.0.0.1:0", "nonsense", "192.0.2.1:80", "127.0.0.1:99999"} {
		if got := freeAddress(p, addr); got != addr {
			t.Errorf("%s became %s", addr, got)
		}
	}
	code, stdout, stderr := command(t, "demo", "--listen", "192.0.2.1:80")
	if code != exitFailure || strings.Contains(stdout, "busy") || !strings.Contains(stderr, "192.0.2.1:80") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}
