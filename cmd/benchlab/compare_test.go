package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewayd/benchlab/report"
)

// small are the arguments of a quick comparison.
func small(command string, more ...string) []string {
	return append([]string{command, "--trace", "testdata/small.jsonl", "--workers", "2", "--seeds", "2"}, more...)
}

// TestThresholds ends with 99 when one is crossed, after the result is written.
func TestThresholds(t *testing.T) {
	for _, x := range []struct {
		limit string
		code  int
		says  string
	}{
		{"ttft.mean<1s", exitOK, ""},
		{"chwbl kv_hit>60%", exitOK, ""},
		{"kv_hit>60%", exitCrossed, "benchlab: threshold kv_hit>60%: crossed by p2c, which has kv_hit 0.5"},
		{"ttft.p99<1s", exitCrossed, "benchlab: threshold ttft.p99<1s: crossed by chwbl, which has ttft.p99 unknown\nbenchlab: threshold ttft.p99<1s: crossed by p2c"},
	} {
		code, stdout, stderr := bench(t.Context(), small("compare", "--strategy", "chwbl", "--strategy", "p2c", "--threshold", x.limit)...)
		if code != x.code || !strings.Contains(stderr, x.says) || !strings.Contains(stdout, "thresholds "+x.limit) {
			t.Errorf("%s: exit %d, want %d\n%s\n%s", x.limit, code, x.code, stderr, stdout)
		}
	}
}

// TestSameContender holds that a contender does not differ from itself.
func TestSameContender(t *testing.T) {
	code, stdout, stderr := bench(t.Context(), small("compare", "--strategy", "p2c", "--strategy", "p2c", "--strategy", "sticky", "--json", "-")...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	c := comparison(t, stdout)
	if c.Contenders[1].Name != "p2c#2" || !strings.Contains(strings.Join(c.Warnings, "\n"), "p2c#2 is the same as p2c") {
		t.Errorf("%s, warnings %q", c.Contenders[1].Name, c.Warnings)
	}
	for name, e := range c.Contenders[1].Figures {
		if v := e.Difference.Verdict; v != report.Indistinguishable && v != report.Unknown {
			t.Errorf("%s differs from itself: %+v", name, e.Difference)
		}
	}
}

// TestFiles writes the same result in every form.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	name := func(n string) string { return filepath.Join(dir, n) }
	code, _, stderr := bench(t.Context(), small("compare", "--strategy", "p2c", "--strategy", "sticky", "--baseline", "sticky",
		"--json", name("r.json"), "--csv", name("r.csv"), "--html", name("r.html"), "--requests-out", name("r.jsonl"))...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	read := func(n string) string {
		b, err := os.ReadFile(name(n))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	c := comparison(t, read("r.json"))
	if c.Baseline().Name != "sticky" || c.Command[1] != "compare" || c.Setup.Trace.SHA256 == "" {
		t.Errorf("the result is of %v against %s", c.Command, c.Baseline().Name)
	}
	rows, err := csv.NewReader(strings.NewReader(read("r.csv"))).ReadAll()
	if want := 1 + 2*3*len(c.Figures); err != nil || len(rows) != want {
		t.Errorf("%d rows of CSV, %v, want %d", len(rows), err, want)
	}
	if !strings.Contains(read("r.html"), "<html") {
		t.Error("the page is no page")
	}
	cached, lines := map[string]float64{}, 0
	for line := range strings.Lines(read("r.jsonl")) {
		var q struct {
			Contender, Outcome string
			Cached             float64 `json:"cached_tokens"`
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil || q.Outcome != "completed" {
			t.Fatalf("%s: %v", line, err)
		}
		cached[q.Contender] += q.Cached
		lines++
	}
	if lines != 2*2*30 {
		t.Errorf("%d requests, want 120", lines)
	}
	for _, k := range c.Contenders {
		tokens := 0.0
		for _, r := range k.Runs {
			tokens += r.Figures.KVHit.Or(0) * float64(r.Figures.PromptTokens)
		}
		if d := tokens - cached[k.Name]; d > 0.5 || d < -0.5 {
			t.Errorf("%s: %v cached tokens of requests, %v of runs", k.Name, cached[k.Name], tokens)
		}
	}
}

// TestProtection compares contenders with a plan with and without.
func TestProtection(t *testing.T) {
	code, stdout, stderr := bench(t.Context(), "compare", "--requests", "150", "--workers", "2", "--kv-blocks", "9000", "--seeds", "2",
		"--protect", "admitted", "--strategy", "least-busy", "--strategy", "cacheroute+sticky", "--json", "-")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	c := comparison(t, stdout)
	if n := len(c.Protection); n == 0 || c.Protection[n-1].Contender != "cacheroute+sticky" || c.Setup.Options.Protect != "admitted" {
		t.Fatalf("protection is %+v", c.Protection)
	}
	with, plain := c.Contenders[1].Figures["kv_hit"].Mean, c.Protection[len(c.Protection)-1].Figures["kv_hit"].Mean
	code, stdout, _ = bench(t.Context(), "compare", "--requests", "150", "--workers", "2", "--kv-blocks", "9000", "--seeds", "2",
		"--strategy", "least-busy", "--strategy", "cacheroute+sticky", "--json", "-")
	without := comparison(t, stdout).Contenders[1].Figures["kv_hit"].Mean
	if d := with.Or(0) - without.Or(9) - plain.Or(5); code != exitOK || d > 1e-12 || d < -1e-12 {
		t.Errorf("with %v, without %v, difference %v", with, without, plain)
	}
	if len(c.Setup.Assumed) != 1 || !strings.Contains(c.Setup.Profile.Source, "ASSUMED") {
		t.Errorf("assumptions are %q, source %q", c.Setup.Assumed, c.Setup.Profile.Source)
	}
}

// TestCapacity finds what sweep finds.
func TestCapacity(t *testing.T) {
	args := []string{"--requests", "120", "--workers", "2", "--rate-scale", "1", "--slo", "ttft=5s", "--seeds", "1", "--strategy", "p2c", "--json", "-"}
	code, stdout, stderr := bench(t.Context(), append([]string{"compare", "--capacity"}, args...)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := comparison(t, stdout).Capacity.Contenders[0].Capacity
	code, stdout, stderr = bench(t.Context(), append([]string{"sweep", "--capacity"}, args...)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	_, s, err := report.Read(strings.NewReader(stdout))
	if err != nil {
		t.Fatal(err)
	}
	want := s.Contenders[0].Capacity
	if *got != *want || got.At.Or(0) <= 0 || got.Fails.Or(0) <= got.At.Or(9) {
		t.Errorf("compare says %+v, sweep %+v", got, want)
	}
	meets := 0
	for i, p := range s.Contenders[0].Points {
		if i > 0 && p.At <= s.Contenders[0].Points[i-1].At {
			t.Errorf("point %d is at %v after %v", i, p.At, s.Contenders[0].Points[i-1].At)
		}
		if p.Meets {
			meets++
		}
	}
	if meets == 0 || meets == len(s.Contenders[0].Points) {
		t.Errorf("%d of %d points keep the SLO", meets, len(s.Contenders[0].Points))
	}
}

// TestSweepAxes runs every condition.
func TestSweepAxes(t *testing.T) {
	for _, over := range []string{"load", "workers", "staleness", "gateways", "cache"} {
		code, stdout, stderr := bench(t.Context(), small("sweep", "--over", over, "--steps", "2", "--strategy", "sticky", "--json", "-")...)
		if code != exitOK {
			t.Errorf("%s: exit %d: %s", over, code, stderr)
			continue
		}
		_, s, err := report.Read(strings.NewReader(stdout))
		if err != nil || s.Over != over || len(s.Contenders) != 1 || len(s.Contenders[0].Points) != 2 || s.Timing != nil {
			t.Errorf("%s: %v\n%.500s", over, err, stdout)
		}
		var b bytes.Buffer
		if err := s.WriteCSV(&b); err != nil || !strings.Contains(b.String(), "sticky,") {
			t.Errorf("%s: %v\n%s", over, err, b.String())
		}
	}
}

// TestSignal withholds signals of reuse from strategies; text and JSON say so.
func TestSignal(t *testing.T) {
	options := []string{"--strategy", "cacheroute", "--signal", "none"}
	code, text, stderr := bench(t.Context(), small("compare", options...)...)
	if code != exitOK || !strings.Contains(text, "strategies have no signal of reuse") {
		t.Errorf("exit %d, %s\n%s", code, stderr, text)
	}
	code, text, stderr = bench(t.Context(), small("compare", append(options, "--json", "-")...)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if c := comparison(t, text); c.Setup.Options.Signal != "none" {
		t.Errorf("the signal is %q", c.Setup.Options.Signal)
	}
	if code, _, stderr := bench(t.Context(), small("sweep", "--signal", "hearsay")...); code != exitUsage || !strings.Contains(stderr, "--signal") {
		t.Errorf("a signal that is none: exit %d, %s", code, stderr)
	}
}
