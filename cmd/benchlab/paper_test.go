package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPaper writes the same tables as text and as JSON.
func TestPaper(t *testing.T) {
	file := filepath.Join(t.TempDir(), "paper.json")
	code, text, stderr := bench(t.Context(), "paper", "--quick", "--requests", "100", "--table", "12", "--json", file)
	if code != exitOK || !strings.HasPrefix(text, "Table 12: ") || !strings.Contains(stderr, "requests simulated") {
		t.Fatalf("exit %d\n%s\n%s", code, text, stderr)
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, plain, _ := bench(t.Context(), "paper", "--quick", "--requests", "100", "--table", "12", "--json", "-")
	if plain != string(saved) {
		t.Errorf("standard output has other JSON than the file:\n%s", plain)
	}
	var result struct {
		Format string
		Tables []struct{ Number string }
	}
	if err := json.Unmarshal(saved, &result); err != nil || result.Format != "gatewayd.benchlab.paper/1" || len(result.Tables) != 1 || result.Tables[0].Number != "12" {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestSurvey makes a table of chosen strategies.
func TestSurvey(t *testing.T) {
	code, text, stderr := bench(t.Context(), "survey", "--quick", "--seeds", "1", "--strategy", "p2c", "--strategy", "chwbl:factor=0")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"| strategy | owners: hit |", "| `p2c` | ", "| `chwbl:factor=0` | ", "Means over 1 seed"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	code, text, stderr = bench(t.Context(), "survey", "--quick", "--seeds", "1", "--strategy", "p2c", "--signal", "all")
	if code != exitOK || strings.Count(text, "\n| `p2c` | ") != 4 || !strings.Contains(text, "| `p2c` | counters |") {
		t.Errorf("exit %d, %s\n%s", code, stderr, text)
	}
	if code, _, stderr := bench(t.Context(), "survey", "--signal", "hearsay"); code != exitUsage || !strings.Contains(stderr, "usage, counters, ttft, none") {
		t.Errorf("a signal that is none: exit %d, %s", code, stderr)
	}
	for _, bad := range []string{"nobody", "./mine", "p2c:choices=0"} {
		if code, _, stderr := bench(t.Context(), "survey", "--strategy", bad); code != exitUsage || !strings.Contains(stderr, bad[:6]) {
			t.Errorf("%s: exit %d, %s", bad, code, stderr)
		}
	}
}

// TestPaperPages holds that pages name the commands and the tables there are.
func TestPaperPages(t *testing.T) {
	for page, words := range map[string][]string{
		"paper.md":      {"benchlab paper", "--quick", "--table", "--seeds", "--requests", "--fitted", "--json", exitCodes},
		"strategies.md": {"benchlab survey --agents"},
	} {
		data, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.Join(strings.Fields(string(data)), " ")
		for _, w := range words {
			if !strings.Contains(plain, w) {
				t.Errorf("%s does not say %q", page, w)
			}
		}
	}
}
