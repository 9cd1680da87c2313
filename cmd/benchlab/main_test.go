package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"gatewayd/benchlab/report"
)

// bench runs benchlab with arguments.
func bench(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = program{args: append([]string{"benchlab"}, args...), stdout: &out, stderr: &err}.run(ctx)
	return code, out.String(), err.String()
}

// TestCommands runs testdata/*.txt: "run ARGS..." shows standard output, and if
// the command fails its standard error and exit code. A good run prints wall-clock
// figures there, which are not shown.
func TestCommands(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd != "run" {
					t.Fatalf("unknown command %q", d.Cmd)
				}
				code, stdout, stderr := bench(t.Context(), strings.Fields(d.Input)...)
				if code != 0 {
					stdout += fmt.Sprintf("%sexit %d\n", stderr, code)
				}
				return stdout
			})
		})
	}
}

// TestSameBytes holds that equal arguments give equal standard output, whatever
// the number of processors, and that a file gets the same JSON and timing besides.
func TestSameBytes(t *testing.T) {
	args := []string{"compare", "--requests", "200", "--rate-scale", "8", "--seeds", "2", "--strategy", "p2c", "--strategy", "cacheroute+sticky"}
	run := func(more ...string) string {
		code, stdout, stderr := bench(t.Context(), slices.Concat(args, more)...)
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		return stdout
	}
	first := run()
	if !strings.Contains(first, "cacheroute+sticky") {
		t.Fatalf("no table:\n%s", first)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	alone, json := run(), run("--json", "-")
	runtime.GOMAXPROCS(2)
	if pair := run(); alone != first || pair != first {
		t.Errorf("different output:\n%s\n%s\n%s", first, alone, pair)
	}
	file := filepath.Join(t.TempDir(), "result.json")
	if run("--json", file) != first {
		t.Error("with a file the text differs")
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a, b := comparison(t, json), comparison(t, string(saved))
	if a.Timing != nil || b.Timing == nil || len(b.Timing.Contenders) != 2 || b.Timing.Requests != 800 {
		t.Errorf("timing is %v on standard output and %+v in the file", a.Timing, b.Timing)
	}
	a.Command, b.Command = nil, nil
	if text(t, a) != text(t, b.Reproducible()) {
		t.Error("the file differs from standard output")
	}
	if run("--seed", "2") == first {
		t.Error("other seeds gave the same output")
	}
}

func text(t *testing.T, c *report.Comparison) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBadJSONFile is noticed before any work and leaves no file behind.
func TestBadJSONFile(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := bench(t.Context(), "compare", "--json", filepath.Join(dir, "missing", "x.json"))
	if code != exitUsage || stdout != "" || !strings.Contains(stderr, "--json") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(dir, "x.json")
	code, stdout, stderr = bench(ctx, "compare", "--requests", "500", "--json", file)
	if code != exitFailed || stdout != "" || stderr != "benchlab: interrupted\n" {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("an interrupted run left a file: %v", err)
	}
}

// TestDefaultChecksum holds that the stated checksum is that of the file.
func TestDefaultChecksum(t *testing.T) {
	data, err := os.ReadFile("../../benchlab/trace/data/conversation_0-40min.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != defaultSHA256 {
		t.Errorf("got %s, want %s", got, defaultSHA256)
	}
	in, err := readTrace("../../benchlab/trace/data/conversation_0-40min.jsonl.gz")
	if err != nil || in.sha256 != defaultSHA256 {
		t.Errorf("read from its file: %s, %v", in.sha256, err)
	}
}
