package gateway

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Nothing is lost, changed or kept too long, however a stream is cut.
func TestLinesPassWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var stream strings.Builder
		for range random.IntN(8) {
			stream.WriteString(strings.Repeat("x", random.IntN(20)) + []string{"", "\n", "\r\n", "\r", "\n\n", "é"}[random.IntN(6)])
		}
		if random.IntN(200) == 0 {
			stream.WriteString(strings.Repeat("y", 2*maxEventLine))
		}
		var l lines
		var got strings.Builder
		for rest := stream.String(); len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), relayBuffer))
			out := string(l.take([]byte(rest[:n])))
			got.WriteString(out)
			rest = rest[n:]
			so := stream.String()[:len(stream.String())-len(rest)]
			if want := strings.LastIndexAny(so, "\r\n") + 1; got.Len() < want || len(l.tail) > maxEventLine+relayBuffer {
				t.Fatalf("of %.200q only %d bytes went out, %d are kept", so, got.Len(), len(l.tail))
			}
		}
		got.Write(l.rest())
		if got.String() != stream.String() {
			t.Fatalf("%.200q became %.200q", stream.String(), got.String())
		}
	}
}

// When a worker breaks off within an event, the client reads whole events only,
// and the last one is the error.
func TestBreakWithinAnEvent(t *testing.T) {
	whole := event("é")
	for cut := 1; cut < len(whole); cut++ {
		f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
			writeRaw(c, streamHead, chunk(whole), chunk(whole[:cut]))
			return false
		})
		w := newWorld(t, nil, f)
		_, text := w.post("/v1/chat/completions", streamed)
		w.idle()
		var events []string
		for part := range strings.SplitSeq(text, "\n\n") {
			if data, ok := strings.CutPrefix(strings.TrimSpace(part), "data: "); ok {
				if !json.Valid([]byte(data)) {
					t.Errorf("cut at %d: the client reads %q", cut, data)
				}
				events = append(events, data)
			}
		}
		if n := len(events); n < 2 || !strings.Contains(events[n-1], "worker_broke") || strings.Count(text, "worker_broke") != 1 {
			t.Errorf("cut at %d: %q", cut, text)
		}
	}
}

// A client gets the head of a stream although all that came with it is held back.
func TestHeadIsNotHeldBack(t *testing.T) {
	answered := make(chan struct{})
	f := newRaw(t, func(c net.Conn, _ *http.Request, _ []byte) bool {
		writeRaw(c, streamHead+chunk("data: {"))
		<-answered
		return writeRaw(c, chunk("}\n\ndata: [DONE]\n\n"), "0\r\n\r\n")
	})
	w := newWorld(t, nil, f)
	resp, err := http.Post(w.URL+"/v1/chat/completions", "application/json", strings.NewReader(streamed))
	close(answered)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "data: {}\n\ndata: [DONE]\n\n" {
		t.Errorf("%q, %v", text, err)
	}
	w.idle()
}
