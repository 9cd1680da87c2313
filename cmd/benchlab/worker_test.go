package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorker serves until interrupted, wants its key, and exits well.
func TestWorker(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, w := io.Pipe()
	var stderr bytes.Buffer
	exit := make(chan int, 1)
	p := program{stdout: w, stderr: &stderr, args: []string{"benchlab", "worker",
		"--listen", "127.0.0.1:0", "--model", "a", "--model", "b,c", "--speed", "1000", "--api-key-file", key}}
	go func() { exit <- p.run(ctx) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	line = strings.TrimSpace(line)
	const before = "serving a, b,c (profile llama-3.1-8b-h100, speed 1000) on http://127.0.0.1:"
	if !strings.HasPrefix(line, before) {
		t.Errorf("got %q, want a line that begins with %q", line, before)
	}
	address := line[strings.LastIndex(line, " ")+1:]
	for token, want := range map[string]int{"": http.StatusUnauthorized, "Bearer secret": http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/v1/completions", strings.NewReader(`{"model":"b,c","prompt":"hello","max_tokens":2}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q: status %d, want %d: %s", token, answer.StatusCode, want, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	interrupt()
	if code := <-exit; code != exitOK || stderr.Len() > 0 {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}

func TestWorkerBusyPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	code, stdout, stderr := bench(t.Context(), "worker", "--listen", l.Addr().String())
	if code != exitFailed || stdout != "" || !strings.Contains(stderr, "address already in use; choose another port") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}
