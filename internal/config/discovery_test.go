package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// targets writes a file of workers and reads it.
func targets(t *testing.T, c Config, s Source, text string) (string, error) {
	t.Helper()
	s.File = filepath.Join(t.TempDir(), "workers")
	if err := os.WriteFile(s.File, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := s.ReadTargets(c)
	var out []string
	for _, w := range found {
		out = append(out, strings.TrimSpace(fmt.Sprint(w.Name(), " ", w.URL, " ", w.Models, w.Zone, w.Ranks, w.Concurrency, w.KVTokens, w.Drain)))
	}
	return strings.Join(out, "\n"), err
}

func TestTargets(t *testing.T) {
	c := Default()
	c.Zones = map[string]Zone{"paris": {}}
	s := Source{Worker: Worker{Models: []string{"m"}, Concurrency: 4}}
	for text, want := range map[string]string{
		`[]`:                           "",
		`[{"targets": ["a:1","b:2"]}]`: "a:1 http://a:1 [m]4 0 false\nb:2 http://b:2 [m]4 0 false",
		"- targets: [a:1]\n  labels: {job: llm, __scheme__: https, gatewayd_models: \"x,y\", gatewayd_zone: paris}\n":                            "a:1 https://a:1 [x y]paris4 0 false",
		"- targets: ['[::1]:8000']\n  labels: {gatewayd_ranks: 0-3, gatewayd_concurrency: '9', gatewayd_kv_tokens: '7', gatewayd_drain: 'true'}": "[::1]:8000 http://[::1]:8000 [m]0-39 7 true",
	} {
		if got, err := targets(t, c, s, text); err != nil || got != want {
			t.Errorf("%s is read as\n%s, %v; want\n%s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                              "it is empty; write [] for no workers",
		" \n":                           "it is empty; write [] for no workers",
		`[{"targets": ["a:1"`:           "it is no list of groups",
		`{"targets": ["a:1"]}`:          "it is no list of groups",
		`[{"target": ["a:1"]}]`:         "it is no list of groups",
		`[{"targets": "a:1"}]`:          "it is no list of groups",
		"!0 [{targets: [a:1]}]":         "tags are not supported",
		squared(1000):                   "aliases make more than",
		"\x00\xff\xfe":                  "it is no list of groups",
		`[{"targets": [""]}]`:           "[0].url: has no host",
		`[{"targets": ["a:99999"]}]`:    "[0].url: ",
		`[{"targets": ["a:1", "a:1"]}]`: "[1]: has the same id as workers[0]",
		`[{"targets": ["a:1"], "labels": {"gatewayd_zone": "x"}}]`:           `[0].zone: unknown zone "x"`,
		`[{"targets": ["a:1"], "labels": {"gatewayd_model": "x"}}]`:          `unknown label "gatewayd_model"; did you mean "gatewayd_models"?`,
		`[{"targets": ["a:1"], "labels": {"gatewayd_drain": "x"}}]`:          `label gatewayd_drain: "x" is no value for it`,
		`[{"targets": ["a:1"], "labels": {"gatewayd_concurrency": "-1"}}]`:   "[0].concurrency: -1 is out of range",
		`[{"targets": ["a:1"], "labels": {"gatewayd_ranks": "3-1"}}]`:        `[0].ranks: "3-1" is no list of ranks`,
		`[{"targets": ["a:1"], "labels": {"__scheme__": "ftp"}}]`:            "[0].url: does not begin with http",
		"# " + strings.Repeat("x", maxFile):                                  "it is larger than",
		`[{"targets": [` + strings.Repeat(`"a:1",`, maxWorkers) + `"b:1"]}]`: "there are more than 4096 workers",
	} {
		if got, err := targets(t, c, s, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q is read as %.80s, %v; want an error with %q", text, got, err, want)
		}
	}
	if _, err := (Source{File: filepath.Join(t.TempDir(), "none")}).ReadTargets(c); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestSources(t *testing.T) {
	text := `
discovery:
  sources:
    - file: workers.json
      worker: {concurrency: 8, kv_load: 1.5}
    - dns: llama.default.svc:8000
      scheme: https
      interval: 2s
    - dns: _http._tcp.llama.default.svc
`
	c, err := Load(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	s := c.Discovery.Sources
	if s[0].Name() != "file workers.json" || s[0].Every() != 500*time.Millisecond || s[0].Worker.Concurrency != 8 || s[1].SRV() || s[1].Every() != 2*time.Second || !s[2].SRV() || s[2].Every() != 5*time.Second {
		t.Errorf("%+v", s)
	}
	found, err := s[1].At(c, []string{"10.0.0.1:8000", "[::1]:8000"})
	if err != nil || found[1].URL != "https://[::1]:8000" {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := s[1].At(c, []string{"a b:8000"}); err == nil {
		t.Error("an address that is none is taken")
	}
	for text, want := range map[string]string{
		"{}":                            "has to have either file or dns",
		"{file: a, dns: 'b:1'}":         "has to have either file or dns",
		"{dns: llama}":                  "is neither host:port nor",
		"{dns: 'llama:0'}":              "is neither host:port nor",
		"{dns: _http.llama}":            "is no name of SRV records",
		"{file: a, scheme: ftp}":        `"ftp" is not known`,
		"{file: a, interval: 1ms}":      "1ms is out of range",
		"{file: a, worker: {id: x}}":    "has a url or id",
		"{file: a, worker: {zone: x}}":  "unknown zone",
		"{file: a, worker: {ranks: x}}": "is no list of ranks",
		"{file: a}, {file: a}":          "is the same place as discovery.sources[0]",
	} {
		if _, err := Load(strings.NewReader("discovery: {sources: ["+text+"]}"), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}

func TestRanks(t *testing.T) {
	for text, want := range map[string]string{
		"": "[]", "0": "[0]", "4-7": "[4 5 6 7]", "0,2, 5-6": "[0 2 5 6]",
	} {
		if got, err := (Worker{Ranks: text}).RankList(); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "-1", "1-", "3-1", "0,0", "0-3,3", ",", "0-256", "5000", "0-200,300-400"} {
		if got, err := (Worker{Ranks: text}).RankList(); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	c := Default()
	c.Workers = []Worker{{URL: "http://a:1", Ranks: "0-3"}, {URL: "http://a:1", Ranks: "4-7"}}
	if err := c.Validate(); err != nil {
		t.Errorf("one server in two entries: %v", err)
	}
	c.Workers[1].Ranks = "3-7"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `has the same id as workers[0]: "a:1@3"`) {
		t.Errorf("a rank twice: %v", err)
	}
}

func TestPriorities(t *testing.T) {
	worker := "workers: [{url: http://a}]\n"
	c, err := Load(strings.NewReader(worker+"headers: {priority: x-class, priorities: {batch: -5}}"), "f")
	if err != nil || c.Headers.Priority != "x-class" || len(c.Headers.Priorities) != 1 || c.Headers.Priorities["batch"] != -5 {
		t.Errorf("%+v, %v", c.Headers, err)
	}
	for _, text := range []string{"{priority: 'a b'}", "{priorities: {a: 1001}}", "{priorities: {a: b}}"} {
		if _, err := Load(strings.NewReader(worker+"headers: "+text), "f"); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// squared returns a file whose aliases stand for n*n targets, and more.
func squared(n int) string {
	return "- targets: &a [" + strings.Repeat("a,", 2*n) + "a]\n" + strings.Repeat("- targets: *a\n", n)
}
