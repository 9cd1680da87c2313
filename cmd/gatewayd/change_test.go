package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A strategy is replaced by the command, by a good executable and a bad one, and
// the configuration reloaded by command and signal, with a shadow beside it.
func TestSwapCommand(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	worker := emulatedWorker(t)
	config := func(queue int) string {
		return fmt.Sprintf("admin_token_file: %s\nworkers:\n  - url: %s\nplugins: {start_timeout: 1m, decision_timeout: 5s, trial_time: 100ms}\nstrategies: [%s]\nshadow: [[sticky]]\nlimits: {queue: %d}\n", token, worker, askingPlugin(t), queue)
	}
	file := write(t, config(1))
	g := startGateway(t, nil, "--config", file)
	at := []string{"--admin", g.admin, "--token-file", token, "--timeout", "2m"}
	run := func(code int, says string, args ...string) {
		t.Helper()
		got, stdout, stderr := command(t, append(args, at...)...)
		if got != code || !strings.Contains(stdout+stderr, says) {
			t.Errorf("gatewayd %v: code %d, want %d, saying %q:\n%s%s", args, got, code, says, stdout, stderr)
		}
	}
	g.mustChat("s")
	run(exitOK, "configuration 2 is in force", "plugin", "swap", "asking", "--binary", askingPlugin(t))
	if pids := g.pids("asking"); len(pids) != 2 || pids[0] == pids[1] {
		t.Errorf("processes %v", pids)
	}
	bad := executable(t, "bad", "exit 3")
	run(exitFailure, "ended", "plugin", "swap", "asking", "--binary", bad)
	run(exitFailure, "asking", "plugin", "swap", "nobody")
	run(exitUsage, "one strategy is needed", "plugin", "swap")
	resp, body, err := g.chat("s", false)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("X-Gatewayd-Strategy") != "asking" {
		t.Errorf("after a bad swap: %v, %v: %s", err, resp, body)
	}
	if err := os.WriteFile(file, []byte(config(2)), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the file's change to be in force", func() bool {
		return strings.Contains(g.get("/metrics"), `gatewayd_config_reloads_total{result="ok"} 2`)
	})
	run(exitOK, "is in force since", "reload")
	g.mustChat("s")
	until(t, "the shadow to decide", func() bool {
		_, out, _ := command(t, append([]string{"shadow", "report"}, at...)...)
		return strings.Contains(out, "sticky") && strings.Contains(out, "100.0%")
	})
	run(exitOK, `"agreed": 1`, "shadow", "report", "--json")
	reloads := strings.Count(g.logged(), "has not changed")
	if err := g.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(t, "the signal to reload", func() bool { return strings.Count(g.logged(), "has not changed") > reloads })
	if err := os.WriteFile(token, []byte(strings.Repeat("x", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	run(exitUsage, "does not take the token", "reload")
	g.stop(syscall.SIGTERM)
}
