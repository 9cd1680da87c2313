package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatewayd/benchlab/report"
)

// TestReport makes pages of a comparison and of a sweep, in a file and on standard
// output.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	for name, write := range map[string]func(f *os.File) error{
		"comparison": func(f *os.File) error {
			c := report.Comparison{Figures: report.Columns(), Contenders: []report.Contender{{Name: "sticky"}}}
			return c.WriteJSON(f)
		},
		"sweep": func(f *os.File) error {
			s := report.Sweep{Over: "load", Contenders: []report.Series{{Name: "sticky"}}}
			return s.WriteJSON(f)
		},
	} {
		result, made := filepath.Join(dir, name+".json"), filepath.Join(dir, name+".html")
		f, err := os.Create(result)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
		_, shown, _ := bench(t.Context(), "report", "--html", "-", result)
		if code, stdout, stderr := bench(t.Context(), "report", "--html", made, result); code != exitOK || stdout != "" || stderr != "" {
			t.Fatalf("%s: exit %d, %q, %s", name, code, stdout, stderr)
		}
		saved, err := os.ReadFile(made)
		if err != nil || string(saved) != shown || !strings.HasPrefix(shown, "<!doctype html>") || !strings.Contains(shown, "sticky") {
			t.Errorf("%s: %v; %d bytes in the file and %d on standard output", name, err, len(saved), len(shown))
		}
	}
}

// TestReportErrors holds that wrong input is told apart from a failure, says what
// to do, and leaves an older page alone.
func TestReportErrors(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"empty.json": " \n", "words.json": "hello", "half.json": `{"format": "gatewayd.benchlab.comp`, "list.json": "[]",
		"old.json": `{"format": "gatewayd.benchlab.comparison/0"}`, "other.json": `{"rows": 3}`,
		"typed.json": `{"format": "` + report.Format + `", "contenders": 3}`, "page.html": "keep",
		"bare.json": `{"format": "` + report.Format + `"}`, "bare-sweep.json": `{"format": "` + report.SweepFormat + `"}`,
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"--html", at("page.html"), at("empty.json")}, "is empty; make a result with benchlab compare --json"},
		{[]string{"--html", at("page.html"), at("words.json")}, "not a result of benchlab"},
		{[]string{"--html", at("page.html"), at("half.json")}, "not a result of benchlab"},
		{[]string{"--html", at("page.html"), at("list.json")}, "not a result of benchlab"},
		{[]string{"--html", at("page.html"), at("old.json")}, `this has "gatewayd.benchlab.comparison/0"; make it again`},
		{[]string{"--html", at("page.html"), at("other.json")}, report.Format},
		{[]string{"--html", at("page.html"), at("typed.json")}, "contenders"},
		{[]string{"--html", at("page.html"), at("bare.json")}, "it has no contenders"},
		{[]string{"--html", at("page.html"), at("bare-sweep.json")}, "it has no contenders"},
		{[]string{"--html", at("page.html"), at("none.json")}, "no such file"},
		{[]string{"--html", at("no/page.html"), at("old.json")}, "old.json"},
		{[]string{"--html", at("page.html")}, "takes one result"},
		{[]string{at("old.json")}, "--html report.html"},
		{[]string{"--html", at("page.html"), at("old.json"), at("old.json")}, "takes one result"},
		{[]string{"--css", "x"}, "flag provided but not defined"},
	} {
		code, stdout, stderr := bench(t.Context(), append([]string{"report"}, x.args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, x.want) {
			t.Errorf("%v: exit %d, %q, %s; want exit %d and %q", x.args, code, stdout, stderr, exitUsage, x.want)
		}
	}
	if kept, err := os.ReadFile(at("page.html")); err != nil || string(kept) != "keep" {
		t.Errorf("the older page: %q, %v", kept, err)
	}
}
