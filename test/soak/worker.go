package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	model      = "soak"
	tracesPath = "/v1/traces"
	chatPath   = "/v1/chat/completions"
)

// worker is a model server that does as it is told.
type worker struct {
	url    string
	server *http.Server
	opened atomic.Int64 // connections
}

// newWorker starts a worker whose chat completions are answered by chat, which gets
// the body of each request.
func newWorker(idle time.Duration, chat func(w http.ResponseWriter, r *http.Request, body string)) (*worker, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &worker{url: "http://" + l.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+chatPath, func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the gateway has left
		}
		chat(rw, r, string(body))
	})
	mux.HandleFunc("GET /v1/models", func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `{"object":"list","data":[{"id":%q,"object":"model"}]}`, model)
	})
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST "+tracesPath, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	w.server = &http.Server{Handler: mux, IdleTimeout: idle, ReadHeaderTimeout: startLimit, ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			w.opened.Add(1)
		}
	}}
	go func() { _ = w.server.Serve(l) }() // until it is closed
	return w, nil
}

func (w *worker) close() { w.server.Close() }

// answer answers a request in one piece.
func answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}}`)
}

// begin sends the head of a stream.
func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush(w)
}

// say sends one token of a stream.
func say(w http.ResponseWriter, token string) {
	fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", token)
	flush(w)
}

// finish ends a stream.
func finish(w http.ResponseWriter) { io.WriteString(w, "data: [DONE]\n\n") }

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() } // a client that has left ends the request

// pause waits, and reports whether the context goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
