package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gatewayd/benchlab/trace"
)

// TestRecord: what a gateway wrote down until it was stopped is a trace.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	path, salt := filepath.Join(dir, "traffic.jsonl"), filepath.Join(dir, "salt")
	config := write(t, unhurried+fmt.Sprintf("workers:\n  - url: %s\nstrategies: [sticky]\nrecord: {salt_file: %s}\n", emulatedWorker(t), salt))
	g := startGateway(t, nil, "--config", config, "--record", path)
	for i := range 6 {
		if _, _, err := g.chat(fmt.Sprintf("session %d", i%2), i%3 == 0); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(g.get("/metrics"), `gatewayd_recorded_requests_total{result="dropped"} 0`) {
		t.Error("the metrics do not tell what was dropped")
	}
	g.stop(syscall.SIGTERM)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := trace.Read(f, path, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sessions := map[uint64]int{}
	for _, r := range tr.Requests {
		sessions[r.Session]++
		if r.Output != 3 || r.Input < 5 {
			t.Errorf("a request of %d prompt and %d output tokens", r.Input, r.Output)
		}
	}
	if len(tr.Requests) != 6 || len(sessions) != 2 {
		t.Errorf("%d requests of %d sessions, want 6 of 2", len(tr.Requests), len(sessions))
	}
	if text, err := os.ReadFile(salt); err != nil || len(text) != 65 {
		t.Errorf("the salt file holds %d bytes, %v", len(text), err)
	}
}
