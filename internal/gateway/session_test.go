package gateway

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/record"
	"gatewayd/internal/telemetry"
	recording "gatewayd/pkg/record"
)

// The header that the configuration names makes one session of requests whose
// prompts have nothing in common, and several of those that have.
func TestConfiguredHeadersNameSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traffic.jsonl")
	r, err := record.Open(record.Options{
		Config: config.Record{File: path, FileBytes: 1 << 20, Files: 1}, Salt: record.NewSalt(), BlockBytes: BlockBytes,
		Metrics: telemetry.Off().Metrics, Logger: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := setup{recorder: r, config: func(c *config.Config) { c.Headers.Session = []string{"x-first", "x-second"} }}.world(t, newFake(t, answerJSON))
	for i, header := range [][]string{{"X-First", "a"}, {"X-Second", "b", "X-First", "a"}, {"X-Second", "b"}, {"X-Session-Id", "c"}, {"X-Session-Id", "d"}} {
		prompt := fmt.Sprint("prompt ", min(i, 3))
		w.post("/v1/chat/completions", strings.Replace(hello, "hello", prompt, 1), header...)
		w.idle()
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for line := range strings.Lines(string(written)) {
		var l recording.Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Session != "" {
			keys = append(keys, fmt.Sprint(l.Session))
		}
	}
	if len(keys) != 5 || keys[0] != keys[1] || keys[1] == keys[2] || keys[2] == keys[3] || keys[3] != keys[4] {
		t.Errorf("sessions %v", keys)
	}
}
