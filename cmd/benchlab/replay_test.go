package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/replay"
	"gatewayd/benchlab/worker"
)

// emulated is the address of an emulated worker that is a thousand times as fast
// as the real one.
func emulated(t *testing.T, key string) string {
	t.Helper()
	p, err := engine.ProfileByName(defaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(worker.Config{Models: []string{"llama"}, Profile: p, Speed: 1000, APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.Handler())
	t.Cleanup(func() { server.Close(); w.Close() })
	return server.URL
}

func TestReplay(t *testing.T) {
	dir := t.TempDir()
	key, result, rows := filepath.Join(dir, "key"), filepath.Join(dir, "result.json"), filepath.Join(dir, "rows.jsonl")
	if err := os.WriteFile(key, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := bench(t.Context(), "replay", "--target", emulated(t, "secret"), "--api-key-file", key,
		"--requests", "20", "--rate-scale", "1000", "--salt", "5", "--json", result, "--requests-out", rows)
	if code != exitOK || !strings.Contains(stdout, "completed 20 of 20 requests") || !strings.Contains(stdout, "TTFT s") {
		t.Fatalf("exit %d, %s, %s", code, stdout, stderr)
	}
	var r replay.Report
	text, err := os.ReadFile(result)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || r.Format != replay.Format || r.Figures.Completed != 20 || r.Counted.Prompt != r.Counted.PromptAsked || r.Counted.Short != 0 || r.Salt != "0000000000000005" {
		t.Errorf("%v, %+v", err, r)
	}
	if strings.Contains(string(text), "secret") || len(r.Trace.SHA256) != 64 || !strings.Contains(r.Command, "--requests 20") {
		t.Errorf("result:\n%s", text)
	}
	if text, err := os.ReadFile(rows); err != nil || bytes.Count(text, []byte("\n")) != 20 {
		t.Errorf("%d rows, %v", bytes.Count(text, []byte("\n")), err)
	}
}

// TestReplayEndsEarly: an interrupted replay reports what it has and fails.
func TestReplayEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	target := emulated(t, "")
	lines := &cancelling{cancel: cancel}
	code := program{args: []string{"benchlab", "replay", "--target", target, "--rate-scale", "50", "--bytes-per-token", "4", "--exact-output", "no"}, stdout: lines, stderr: lines, terminal: true}.run(ctx)
	if code != exitFailed || !strings.Contains(lines.String(), "warning: interrupted: ") || !strings.Contains(lines.String(), "of 7851 requests were sent") {
		t.Errorf("exit %d, %s", code, lines)
	}
}

// cancelling cancels once the replay shows that it is under way.
type cancelling struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (c *cancelling) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("have ended")) {
		c.cancel()
	}
	return c.Buffer.Write(b)
}

func TestReplayRefuses(t *testing.T) {
	target := emulated(t, "")
	for _, x := range []struct{ args, want string }{
		{"", "--target is missing"},
		{"--target ftp://x", `--target "ftp://x"`},
		{"--target " + target + " --api-key-file missing", "--api-key-file"},
		{"--target " + target + " --affinity cookie", "--affinity"},
		{"--target " + target + " --exact-output perhaps", "--exact-output"},
		{"--target " + target + " --requests -1", "--requests"},
		{"--target " + target + " --trace missing", "--trace"},
		{"--target " + target + " --slo ttft=x", "--slo"},
		{"--target " + target + " --json missing/x", "--json"},
		{"--target " + target + " --requests-out missing/x", "--requests-out"},
		{"--target " + target + " --requests 1 --model m --bytes-per-token 4 --exact-output no --endpoint x", "endpoint"},
		{"--target " + target + " --requests 1 --dilation -1", "dilation"},
		{"--target " + target + " more", "takes flags only"},
	} {
		if code, stdout, stderr := bench(t.Context(), append([]string{"replay"}, strings.Fields(x.args)...)...); code != exitUsage || stdout != "" || !strings.Contains(stderr, x.want) {
			t.Errorf("%s: exit %d, %q, %q", x.args, code, stdout, stderr)
		}
	}
}

// TestReplayDocs runs the commands of docs/replay.md and holds that the page names
// every flag with its default.
func TestReplayDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	page, dir := string(text), t.TempDir()
	replace := strings.NewReplacer("http://127.0.0.1:8080", emulated(t, ""), "traffic.jsonl.gz", "testdata/small.jsonl",
		"result.json", filepath.Join(dir, "result.json"), "rows.jsonl", filepath.Join(dir, "rows.jsonl"), "--requests 500 --rate-scale 2", "--requests 10 --rate-scale 1000")
	commands := regexp.MustCompile(`(?m)^bin/benchlab (replay .*)$`).FindAllStringSubmatch(page, -1)
	if len(commands) < 2 {
		t.Fatalf("%d commands found", len(commands))
	}
	for _, c := range commands {
		if code, stdout, stderr := bench(t.Context(), strings.Fields(replace.Replace(c[1]))...); code != exitOK || stdout == "" {
			t.Errorf("%s: exit %d, %s", c[1], code, stderr)
		}
	}
	_, help, _ := bench(t.Context(), "replay", "--help")
	flags := regexp.MustCompile(`(?m)^   (--[a-z-]+)(?: [A-Z|]+)?(?:,? .*?)?(?:\(default: "?([^)"]*)"?\))?$`).FindAllStringSubmatch(help, -1)
	if len(flags) < 20 {
		t.Fatalf("%d flags found in\n%s", len(flags), help)
	}
	for _, f := range flags {
		if f[1] == "--help" {
			continue
		}
		row := regexp.MustCompile("(?m)^\\|.*`" + f[1] + "[ `].*$").FindString(page)
		if row == "" || !strings.Contains(row, f[2]) {
			t.Errorf("the page has no row for %s with the default %q: %q", f[1], f[2], row)
		}
	}
}
