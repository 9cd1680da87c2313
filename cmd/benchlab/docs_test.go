package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs runs the commands of docs/benchlab.md, on little traffic: workers are
// interrupted at once.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchlab.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := strings.NewReplacer(
		"bin/plugins/cacheroute", build(t, "gatewayd/plugins/cacheroute", "cacheroute"),
		"benchlab/trace/testdata", "../../benchlab/trace/testdata",
		"traffic.jsonl.gz", "testdata/small.jsonl",
		"result.", filepath.Join(dir, "result."),
		"127.0.0.1:8001", "127.0.0.1:0", "\\\n", " ")
	lines := regexp.MustCompile(`(?m)^(?:bin/|\$ )benchlab ((?:.*\\\n)*.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(lines) < 10 {
		t.Fatalf("%d commands found, want 10 or more", len(lines))
	}
	for _, l := range lines {
		args := strings.Fields(replace.Replace(l[1]))
		ctx, cancel := context.WithCancel(t.Context())
		switch args[0] {
		case "compare", "sweep":
			args = append(args, "--seeds", "2", "--requests", "30")
			if strings.Contains(l[1], "sessions_dev") {
				args = append(args[:len(args)-2], "--sessions", "2")
			}
		case "worker":
			cancel()
		}
		if code, stdout, stderr := bench(ctx, args...); code != exitOK || stdout == "" && args[0] != "report" {
			t.Errorf("%s: exit %d, %d bytes, %s", l[1], code, len(stdout), stderr)
		}
		cancel()
	}
}

// TestDocumentedFlags holds that the page names every flag of compare and sweep,
// and compare's defaults.
func TestDocumentedFlags(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchlab.md")
	if err != nil {
		t.Fatal(err)
	}
	for command, least := range map[string]int{"compare": 25, "sweep": 25} {
		_, help, _ := bench(t.Context(), command, "--help")
		flags := regexp.MustCompile(`(?m)^   (--[a-z-]+)(?: [A-Z|]+)?(?:,? .*?)?(?:\(default: "?([^)"]*)"?\))?$`).FindAllStringSubmatch(help, -1)
		if len(flags) < least {
			t.Fatalf("%d flags found in\n%s", len(flags), help)
		}
		for _, f := range flags {
			if f[1] == "--help" {
				continue
			}
			row := regexp.MustCompile("(?m)^\\|.*`" + f[1] + "[ `].*$").FindString(string(page))
			value := strings.TrimPrefix(f[2], "the ")
			if row == "" || command == "compare" && !strings.Contains(row, value) {
				t.Errorf("the page has no row for %s with the default %q: %q", f[1], value, row)
			}
		}
	}
}

// TestDocumentedCodes holds that help and page name the same exit codes.
func TestDocumentedCodes(t *testing.T) {
	page, err := os.ReadFile("../../docs/benchlab.md")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.Join(strings.Fields(string(page)), " ")
	if !strings.Contains(plain, exitCodes) {
		t.Errorf("the page does not say %q", exitCodes)
	}
	for _, command := range []string{"compare", "sweep", "replay"} {
		if _, help, _ := bench(t.Context(), command, "--help"); !strings.Contains(help, exitCodes) {
			t.Errorf("the help of %s does not say %q", command, exitCodes)
		}
	}
}
