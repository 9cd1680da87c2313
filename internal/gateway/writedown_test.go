package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/record"
	"gatewayd/internal/telemetry"
	tape "gatewayd/pkg/record"
)

// recording returns a recorder, and what reads what it has written once it is closed.
func recording(t *testing.T) (r *record.Recorder, written func() (text []byte, lines []tape.Line)) {
	path := filepath.Join(t.TempDir(), "traffic.jsonl")
	r, err := record.Open(record.Options{
		Config: config.Record{File: path, FileBytes: 1 << 20, Files: 1}, Salt: record.NewSalt(), BlockBytes: BlockBytes,
		Metrics: telemetry.Off().Metrics, Logger: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, func() (text []byte, lines []tape.Line) {
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for in := json.NewDecoder(bytes.NewReader(text)); in.More(); {
			var l tape.Line
			if err := in.Decode(&l); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, l)
		}
		return text, lines
	}
}

// TestWriteDown: what became of requests is written, and no text, name or key of
// theirs.
func TestWriteDown(t *testing.T) {
	r, written := recording(t)
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, body []byte) {
		switch {
		case bytes.Contains(body, []byte("refuse")):
			w.WriteHeader(http.StatusBadRequest)
		case bytes.Contains(body, []byte(`"stream"`)):
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"secret answer\"}}]}\n\n"+
				"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":400,\"completion_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":64}}}\n\ndata: [DONE]\n\n")
		default:
			io.WriteString(w, `{"choices":[{"message":{"content":"secret answer"}}],"usage":{"prompt_tokens":400,"completion_tokens":9}}`)
		}
	})
	w := setup{recorder: r}.world(t, f)
	text := strings.Repeat("secret prompt ", 100)
	ask := func(extra string, headers ...string) {
		w.post("/v1/chat/completions", `{"model":"m",`+extra+`"messages":[{"role":"user","content":"`+text+`"}]}`,
			append(headers, "Authorization", "Bearer secret key", "X-Session-Id", "secret session")...)
	}
	ask(`"stream":true,`, "X-Gatewayd-Priority", "high")
	ask("")
	ask(`"refuse":true,`)
	w.post("/v1/chat/completions", `{"model":"unknown","messages":[]}`)
	w.post("/v1/chat/completions", `no JSON`)
	w.idle()
	file, lines := written()
	if bytes.Contains(file, []byte("secret")) {
		t.Errorf("a text was file:\n%s", file)
	}
	if len(lines) != 4 {
		t.Fatalf("%d lines, want a header and three requests:\n%s", len(lines), file)
	}
	a, b, c := lines[1], lines[2], lines[3]
	if a.PromptBytes != len(text)+len("user")+1 || len(a.Blocks) != a.PromptBytes/BlockBytes || a.PromptTokens != 400 || a.OutputTokens != 9 ||
		*a.CachedTokens != 64 || !a.Stream || a.Priority != 10 || b.Priority != 0 || a.TTFTNS == 0 || a.E2ENS < a.TTFTNS || a.Outcome != tape.Completed || a.Status != 200 || a.Worker != "w0" || a.Attempts != 1 {
		t.Errorf("stream: %+v", a)
	}
	if b.CachedTokens != nil || b.Stream || b.TTFTNS != 0 || b.E2ENS == 0 || b.PromptTokens != 400 || b.Tenant != a.Tenant || b.Session != a.Session || len(b.Tenant) != 16 {
		t.Errorf("no stream: %+v", b)
	}
	if c.Outcome != "refused" || c.Status != 400 || !c.Estimated || c.PromptTokens == 0 || c.OutputTokens != 0 {
		t.Errorf("refused by the worker: %+v", c)
	}
}
