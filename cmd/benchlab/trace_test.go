package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTraceDocs runs the commands of docs/traces.md.
func TestTraceDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/traces.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	recorded := "../../benchlab/trace/testdata/recorded/"
	places := map[string]string{
		"traffic.jsonl.gz": "../../benchlab/trace/data/conversation_0-40min.jsonl.gz", "sessions.jsonl": "testdata/agents.jsonl",
		"dictionaries": recorded, "rag.jsonl": recorded + "0_trace_segmentA.jsonl.gz",
	}
	lines := regexp.MustCompile(`(?m)^bin/benchlab (.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(lines) < 7 {
		t.Fatalf("%d commands found, want 7 or more", len(lines))
	}
	for _, l := range lines {
		args := strings.Fields(l[1])
		for i, a := range args {
			if place, ok := places[a]; ok {
				args[i] = place
			} else if filepath.Ext(a) != "" {
				args[i] = filepath.Join(dir, a)
			}
		}
		code, stdout, stderr := bench(t.Context(), args...)
		if code != exitOK {
			t.Errorf("%s: exit %d, %s", l[1], code, stderr)
			continue
		}
		if out := args[len(args)-1]; args[1] != "info" {
			if code, _, stderr = bench(t.Context(), "trace", "info", out); code != exitOK {
				t.Errorf("%s: what it wrote: %s", l[1], stderr)
			}
		} else if stdout == "" {
			t.Errorf("%s: nothing printed", l[1])
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 4 {
		t.Errorf("files made: %v", left)
	}
}

// TestTracePacking holds that the name of a file says how it is packed, and that
// what was done is told.
func TestTracePacking(t *testing.T) {
	dir := t.TempDir()
	for ending, magic := range map[string]string{".gz": "\x1f\x8b", ".zst": "\x28\xb5\x2f\xfd", "": `{"format"`} {
		out := filepath.Join(dir, "x"+ending)
		code, _, stderr := bench(t.Context(), "trace", "convert", "testdata/agents.jsonl", out)
		if code != exitOK || !strings.HasPrefix(stderr, "4 requests written to ") || !strings.Contains(stderr, "note: 2 sessions have no common clock") {
			t.Errorf("exit %d, %s", code, stderr)
		}
		data, err := os.ReadFile(out)
		if err != nil || !strings.HasPrefix(string(data), magic) {
			t.Errorf("%s: %v, begins with %.8q", out, err, data)
		}
		if in, err := readTrace(out); err != nil || len(in.trace.Requests) != 4 {
			t.Errorf("%s: %v", out, err)
		}
	}
}
