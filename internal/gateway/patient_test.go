package gateway

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/http1"
)

// order notes what is done to an answer.
type order struct {
	thrown
	steps         []string
	read, written []time.Time // the deadlines
}

func (o *order) WriteHeader(status int) {
	o.steps = append(o.steps, "head")
	o.thrown.WriteHeader(status)
}

func (o *order) Write(b []byte) (int, error) {
	o.steps = append(o.steps, "body")
	return o.thrown.Write(b)
}

func (o *order) SetReadDeadline(due time.Time) error {
	o.read = append(o.read, due)
	return nil
}

func (o *order) SetWriteDeadline(due time.Time) error {
	o.steps, o.written = append(o.steps, "deadline"), append(o.written, due)
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

// The time of a request runs from its arrival, also where its handler comes late: that
// of its body, whether its length is said or not, and that of its answer.
func TestTimeRunsFromArrival(t *testing.T) {
	w := setup{pace: &pace{grace: time.Second, rate: 1, stall: long, end: time.Minute}, config: func(c *config.Config) { c.Timeouts.Total = time.Hour }}.world(t)
	arrived := time.Now().Add(-24 * time.Hour)
	for length, body := range map[int64]bool{0: false, 5: true, http1.Unknown: true} {
		o := &order{}
		r := downstream.NewRequest(t.Context(), http1.Request{Method: http.MethodPost, Path: "/nothing", Minor: 1, Length: length}, http.NoBody)
		r.Arrived = arrived
		w.gateway.Serve(o, r)
		if bounded := len(o.read) == 1 && o.read[0].Equal(arrived.Add(time.Second)); bounded != body || !body && len(o.read) > 0 {
			t.Errorf("length %d: reading is due at %v", length, o.read)
		}
		if last := o.written[len(o.written)-1]; !last.Equal(arrived.Add(time.Hour + time.Minute)) {
			t.Errorf("length %d: the answer is due at %v, arrived at %v", length, last, arrived)
		}
	}
}

// What is told of a request's duration has begun with its arrival as well.
func TestDurationsRunFromArrival(t *testing.T) {
	recorder, written := recording(t)
	w := setup{recorder: recorder, config: func(c *config.Config) { c.Timeouts.Total = 24 * time.Hour }}.world(t, newFake(t, answerJSON))
	head := http1.Request{Method: http.MethodPost, Path: "/v1/chat/completions", Minor: 1, Length: int64(len(hello))}
	r := downstream.NewRequest(t.Context(), head, io.NopCloser(strings.NewReader(hello)))
	r.Arrived = time.Now().Add(-time.Hour)
	o := &order{}
	if w.gateway.Serve(o, r); o.status != http.StatusOK {
		t.Errorf("status %d", o.status)
	}
	w.idle()
	if took := w.metric("gen_ai_server_request_duration_seconds_sum"); took < time.Hour.Seconds() {
		t.Errorf("a request of an hour took %v s", took)
	}
	if _, lines := written(); len(lines) != 2 || lines[1].E2ENS < int64(time.Hour) {
		t.Errorf("written down: %+v", lines)
	}
}
