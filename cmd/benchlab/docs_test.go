package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs runs the commands of docs/benchlab.md, on few requests: workers are
// interrupted at once.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchlab.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := strings.NewReplacer(
		"bin/plugins/cacheroute", build(t, "gatewayd/plugins/cacheroute", "cacheroute"),
		"traffic.jsonl.gz", "testdata/small.jsonl",
		"result.json", filepath.Join(dir, "result.json"),
		"127.0.0.1:8001", "127.0.0.1:0")
	lines := regexp.MustCompile(`(?m)^bin/benchlab (.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(lines) < 5 {
		t.Fatalf("%d commands found, want 5 or more", len(lines))
	}
	for _, l := range lines {
		args := strings.Fields(replace.Replace(l[1]))
		ctx, cancel := context.WithCancel(t.Context())
		switch args[0] {
		case "compare":
			args = append(args, "--requests", "30")
		case "worker":
			cancel()
		}
		if code, stdout, stderr := bench(ctx, args...); code != exitOK || stdout == "" {
			t.Errorf("%s: exit %d, %d bytes, %s", l[1], code, len(stdout), stderr)
		}
		cancel()
	}
}

// TestDocumentedFlags holds that the page names every flag of compare with its
// default.
func TestDocumentedFlags(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchlab.md")
	if err != nil {
		t.Fatal(err)
	}
	_, help, _ := bench(t.Context(), "compare", "--help")
	flags := regexp.MustCompile(`(?m)^   (--[a-z-]+) [A-Z]+ .*?(?:\(default: "?([^)"]*)"?\))?$`).FindAllStringSubmatch(help, -1)
	if len(flags) < 9 {
		t.Fatalf("%d flags found in\n%s", len(flags), help)
	}
	for _, f := range flags {
		row := regexp.MustCompile("(?m)^\\| `" + f[1] + " .*$").FindString(string(page))
		value := strings.TrimPrefix(f[2], "the ")
		if row == "" || !strings.Contains(row, value) {
			t.Errorf("the page has no row for %s with the default %q: %q", f[1], value, row)
		}
	}
}
