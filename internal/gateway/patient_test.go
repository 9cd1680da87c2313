package gateway

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewayd/internal/downstream"
	"gatewayd/internal/http1"
)

// order notes what is done to an answer.
type order struct {
	thrown
	steps []string
}

func (o *order) WriteHeader(status int) {
	o.steps = append(o.steps, "head")
	o.thrown.WriteHeader(status)
}

func (o *order) Write(b []byte) (int, error) {
	o.steps = append(o.steps, "body")
	return o.thrown.Write(b)
}

func (o *order) SetWriteDeadline(time.Time) error {
	o.steps = append(o.steps, "deadline")
	return nil
}

// A server may send all of an answer, or its end, only when the handler has returned,
// however long the worker has taken: the client has its time for that.
func TestTheEndHasItsTime(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"nothing":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"an empty body":  func(w http.ResponseWriter, _ *http.Request) {},
		"a body":         func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") },
		"chunks":         func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}"); w.(http.Flusher).Flush() },
		"an error of it": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"a refusal":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
	} {
		f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ []byte) { answer(w, r) })
		w := setup{pace: &pace{grace: time.Minute, rate: 1, stall: 1}}.world(t, f)
		o := &order{}
		head := http1.Request{Method: http.MethodPost, Path: "/v1/chat/completions", Minor: 1, Length: int64(len(hello))}
		w.gateway.Serve(o, downstream.NewRequest(t.Context(), head, io.NopCloser(strings.NewReader(hello))))
		if head := slices.Index(o.steps, "head"); head < 0 || o.steps[len(o.steps)-1] != "deadline" {
			t.Errorf("%s: %v, want a deadline behind all that is written", name, o.steps)
		}
	}
}

// All that is written has its time from then on, also the end of a stream whose worker
// leaves its last line open for long.
func TestEachPartHasItsTime(t *testing.T) {
	f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
		return writeRaw(c, streamHead, chunk(event("t")), chunk("data: [DO"), chunk("NE]"), "0\r\n\r\n")
	})
	w := setup{pace: &pace{grace: time.Minute, rate: 1, stall: 1}}.world(t, f)
	o := &order{}
	head := http1.Request{Method: http.MethodPost, Path: "/v1/chat/completions", Minor: 1, Length: int64(len(streamed))}
	w.gateway.Serve(o, downstream.NewRequest(t.Context(), head, io.NopCloser(strings.NewReader(streamed))))
	bodies := 0
	for i, step := range o.steps {
		if step == "body" {
			bodies++
			if o.steps[i-1] != "deadline" {
				t.Errorf("%v: part %d has no deadline of its own", o.steps, bodies)
			}
		}
	}
	if bodies < 2 {
		t.Errorf("%v: %d parts", o.steps, bodies)
	}
}
