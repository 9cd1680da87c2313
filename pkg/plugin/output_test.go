package plugin

import (
	"strings"
	"testing"

	"gatewayd/pkg/router"
)

func TestWhatAPluginPrintsIsLogged(t *testing.T) {
	var log logged
	s := spec("good", "faulty")
	s.Logger = log.logger()
	p := started(t, s)
	if _, err := p.Open(t.Context(), router.Options{"open": "print"}, 1, "pool"); err != nil {
		t.Fatal(err)
	}
	p.Close()
	for _, want := range []string{
		"[INFO]  gatewayd: plugin started: plugin=test pid=",
		"[INFO]  gatewayd: to standard output: plugin=test stream=stdout\n",
		"[INFO]  gatewayd: to standard error: plugin=test\n",
		"[INFO]  gatewayd: from log: plugin=test\n",
		"[WARN]  gatewayd: from slog: plugin=test n=1\n",
		"[DEBUG] gatewayd: from hclog: plugin=test module=sub k=v\n",
		`[INFO]  gatewayd: {"@message": 5, "@level": {}}: plugin=test` + "\n",
		"[INFO]  gatewayd: last line: plugin=test\n",
		"[INFO]  gatewayd: plugin ended: plugin=test pid=",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if t.Failed() || strings.Contains(log.String(), "[ERROR]") {
		t.Errorf("the log:\n%s", log.String())
	}
}

func TestOutputIsCutIntoLines(t *testing.T) {
	var log logged
	var tail tail
	o := &output{log: log.logger(), tail: &tail}
	for _, s := range []string{"a", "b\nc\r\n\n", "{\"x\":", "1}\n", strings.Repeat("z", lineBytes+5), "\n\xff\npan", "ic: no\n\ngoroutine 1\n", "end"} {
		if n, err := o.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write(%q) = %d, %v", s, n, err)
		}
	}
	o.flush()
	want := "[INFO]  gatewayd: ab\n[INFO]  gatewayd: c\n[INFO]  gatewayd: {\"x\":1}\n" +
		"[INFO]  gatewayd: " + strings.Repeat("z", lineBytes) + "\n[INFO]  gatewayd: zzzzz\n[INFO]  gatewayd: \uFFFD\n" +
		"[ERROR] gatewayd: panic: no\n[ERROR] gatewayd\n[ERROR] gatewayd: goroutine 1\n[ERROR] gatewayd: end\n"
	if got := log.String(); got != want {
		t.Errorf("the log is %d bytes, want %d:\n%s", len(got), len(want), strings.ReplaceAll(got, strings.Repeat("z", lineBytes), "z..."))
	}
	if got := tail.last(); got != "panic: no" {
		t.Errorf("the last word is %q", got)
	}
	if got := tail.String(); !strings.HasPrefix(got, "ab / c / {\"x\":1} / zzz") || !strings.HasSuffix(got, "goroutine 1 / end") {
		t.Errorf("the tail is %q", got)
	}
}
