package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/plugin"
)

// executable writes a shell script and returns its path.
func executable(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func hostile(t *testing.T, how string) string {
	return executable(t, how, fmt.Sprintf("exec %q %s %s", os.Args[0], hostileStrategy, how))
}

// TestWrongExecutables holds that gateway and check say what is wrong with what
// is no plugin, and end with the documented code.
func TestWrongExecutables(t *testing.T) {
	plain := executable(t, "plain", "exit 0")
	if err := os.Chmod(plain, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, path string
		check      int
		says       []string
	}{
		{"missing", filepath.Join(t.TempDir(), "none"), exitUsage, []string{"none", "file does not exist"}},
		{"not executable", plain, exitUsage, []string{"plain", "permission denied"}},
		{"a folder", t.TempDir(), exitUsage, []string{"folder"}},
		{"not a plugin", executable(t, "loud", "echo hello from loud"), exitFailure, []string{`its first line is "hello from loud"`, "hint: "}},
		{"another version", executable(t, "next", "echo '1|2|unix|/x|grpc'"), exitFailure, []string{"speaks strategy protocol 2, this gateway speaks 1", "hint: rebuild"}},
		{"ends at once", executable(t, "broken", "echo my feet are cold >&2; exit 3"), exitFailure, []string{"exit status 3", "my feet are cold"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			code, _, stderr := command(t, "plugin", "check", c.path)
			if code != c.check {
				t.Errorf("plugin check ends with code %d, want %d", code, c.check)
			}
			if c.what == "a folder" {
				c.says = nil // check says so; a gateway says what the system says
			}
			if c.what == "ends at once" { // that may pass, so that a gateway goes on and tries again
				g := startGateway(t, nil, "--worker", emulatedWorker(t), "--plugin", c.path)
				g.mustChat("s")
				until(t, "word of it", func() bool { return strings.Contains(g.logged(), "my feet are cold") })
				return
			}
			code, _, served := command(t, "serve", "--worker", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--config", write(t, unhurried), "--plugin", c.path)
			if code != exitUsage {
				t.Errorf("serve ends with code %d, want %d", code, exitUsage)
			}
			for _, says := range c.says {
				if !strings.Contains(stderr, says) || !strings.Contains(served, says) {
					t.Errorf("%q is not said by both:\n%s\n%s", says, stderr, served)
				}
			}
		})
	}
}

// TestHostilePlugins puts every kind of wrong answer into one chain: each request
// is served all the same, by the strategy behind them.
func TestHostilePlugins(t *testing.T) {
	patient := write(t, "plugins: {start_timeout: 1m}\n") // all of them start, and may answer late
	args := []string{"--config", patient, "--worker", emulatedWorker(t), "--worker", emulatedWorker(t)}
	names := make([]string, 0, len(hostileAnswers))
	for how := range hostileAnswers {
		if how != "nan-hold" { // names a worker: the request goes there, and the hold is dropped
			names = append(names, how)
		}
	}
	slices.Sort(names)
	for _, how := range names {
		args = append(args, "--plugin", hostile(t, how))
	}
	g := startGateway(t, nil, append(args, "--plugin", "least-busy")...)
	until(t, "least-busy's plan", func() bool { return g.plan("least-busy").Version > 0 })
	served := func(i int) {
		resp, body, err := g.chat(fmt.Sprint("session-", i), i%2 == 0)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("request %d: %v %v %s", i, err, resp, body)
		}
		if s := resp.Header.Get("X-Gatewayd-Strategy"); s != "least-busy" {
			t.Errorf("request %d was decided by %s", i, s)
		}
	}
	for i := range 20 {
		served(i)
	}
	// The two whose stream cannot be understood are ended and started again.
	for how, says := range map[string]string{"hundred-mb": "larger than max", "garbage": "breaks the protocol"} {
		until(t, "word of "+how, func() bool {
			served(0) // one that was too late for the others is asked again
			for _, line := range strings.Split(g.logged(), "\n") {
				if strings.Contains(line, how) && strings.Contains(line, says) {
					return true
				}
			}
			return false
		})
	}
	metrics := g.get("/metrics")
	for _, how := range names {
		if how != "hundred-mb" && how != "garbage" && !strings.Contains(metrics, `strategy="`+how+`"`) {
			t.Errorf("%s is not in the metrics", how)
		}
	}
}

// TestCheckFindsWhatIsWrong checks executables that break rules.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	for what, c := range map[string]struct {
		path string
		says []string
	}{
		"asking":  {askingPlugin(t), []string{"description    BROKEN", "summary must be one line", "no-such-option=1 is taken", "order          BROKEN", "elsewhere      ok", "end            ok"}},
		"unknown": {hostile(t, "unknown-workers"), []string{"valid          BROKEN", "names worker 7 of"}},
		"nan":     {hostile(t, "nan-hold"), []string{"valid          BROKEN", "factor NaN"}},
		"leaks":   {hostile(t, "leaks"), []string{"memory         BROKEN", "its memory grows by"}},
	} {
		t.Run(what, func(t *testing.T) {
			code, stdout, stderr := command(t, "plugin", "check", "--history", "8000", c.path)
			if code != exitFailure || !strings.Contains(stderr, "broken") {
				t.Errorf("code %d, %s", code, stderr)
			}
			for _, says := range c.says {
				if !strings.Contains(stdout, says) {
					t.Errorf("%q is not in\n%s", says, stdout)
				}
			}
		})
	}
}

// TestEndless finds a process that does not end with its host.
func TestEndless(t *testing.T) {
	const stop = 300 * time.Millisecond
	for how, broken := range map[string]int{"stays": 1, "empty-answer": 0} {
		spec := plugin.Spec{Name: how, Path: hostile(t, how), StartTimeout: patientStart, StopTimeout: stop}
		limit := stop
		if broken == 0 { // for hangs: an end that is on its way may take its time
			spec.StopTimeout, limit = patientStart, patientStart
		}
		p, err := launch(patience(t), spec)
		if err != nil {
			t.Fatal(err)
		}
		if r := ending(p, limit); len(r.Findings) != broken {
			t.Errorf("%s: %+v", how, r)
		}
	}
}

func TestPluginCommandLines(t *testing.T) {
	inProject(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"sing"}, `no command plugin "sing"`},
		{[]string{"check"}, "takes one argument"},
		{[]string{"check", "sticky", "--history"}, "needs a value"},
		{[]string{"check", "sticky", "--loud"}, "no option --loud"},
		{[]string{"check", "no-such-strategy"}, "hint: give a path, as ./no-such-strategy"},
		{[]string{"check", "sticky", "--except", "manners"}, `no rule is called "manners"`},
		{[]string{"check", "sticky", "--strategy", "other"}, `serves no strategy "other", but sticky`},
		{[]string{"describe", "sticky:ttl"}, "key=value"},
		{[]string{"list", "--dir", "/no/such/folder"}, "/no/such/folder"},
		{[]string{"new"}, "takes one argument"},
		{[]string{"new", "My Strategy"}, "lower case letters"},
		{[]string{"new", "sticky"}, "built-in strategy sticky"},
		{[]string{"new", "mine", "--lang", "cobol"}, "go or python"},
		{[]string{"new", "mine"}, "hint: git clone it, and add --sdk DIR"},
		{[]string{"new", "mine", "--sdk", "/no/such/folder"}, "no checkout of gatewayd"},
	} {
		code, _, stderr := command(t, append([]string{"plugin"}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("plugin %v: code %d, %s", c.args, code, stderr)
		}
	}
	for _, args := range [][]string{{}, {"check", "--help"}, {"new", "--help"}, {"list", "--help"}, {"describe", "--help"}} {
		code, stdout, _ := command(t, append([]string{"plugin"}, args...)...)
		if code != exitOK || !strings.Contains(stdout, "Example:") {
			t.Errorf("plugin %v: code %d\n%s", args, code, stdout)
		}
	}
}

func TestDescribeAndList(t *testing.T) {
	code, stdout, stderr := command(t, "plugin", "describe", "cacheroute")
	for _, says := range []string{"sha256", "protocol    1", "strategy  cacheroute", "option    qcap=", "decides   by plan", "rates of keys"} {
		if code != exitOK || !strings.Contains(stdout, says) {
			t.Errorf("describe: code %d, %q is not in\n%s%s", code, says, stdout, stderr)
		}
	}
	code, stdout, stderr = command(t, "plugin", "describe", "--schema", "cacheroute")
	var schema struct {
		Properties map[string]struct{ Default string }
	}
	if err := json.Unmarshal([]byte(stdout), &schema); code != exitOK || err != nil || schema.Properties["qcap"].Default == "" {
		t.Errorf("describe --schema: code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	dir := filepath.Dir(askingPlugin(t))
	if err := os.WriteFile(filepath.Join(dir, "broken"), []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = command(t, "plugin", "list", "--dir", dir)
	for _, says := range []string{"sticky", "built in", askingStrategy, "unusable: start plugin broken"} {
		if code != exitOK || !strings.Contains(stdout, says) {
			t.Errorf("list: code %d, %q is not in\n%s%s", code, says, stdout, stderr)
		}
	}
}

// inProject moves the test into an empty folder outside of any checkout.
func inProject(t *testing.T) string {
	dir := t.TempDir()
	t.Chdir(dir)
	return dir
}
