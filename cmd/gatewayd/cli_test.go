package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command runs a command line to its end.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithCancel(patience(t))
	defer cancel()
	code = run(ctx, process{args: append([]string{"gatewayd"}, args...), stdout: &out, stderr: &errs, getenv: func(string) string { return "" }})
	return code, out.String(), errs.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gatewayd.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWrongCommandLines(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	worker := []string{"serve", "--worker", "http://127.0.0.1:1", "--admin-listen", "127.0.0.1:0"}
	serve := func(more ...string) []string { return append(append([]string{}, worker...), more...) }
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"sing"}, exitUsage, `no command "sing"`},
		{[]string{"--loud"}, exitUsage, "loud"},
		{[]string{"help", "sing"}, exitUsage, "sing"},
		{[]string{"serve"}, exitUsage, "there is no worker\n  hint: add --worker URL"},
		{[]string{"serve", "--loud"}, exitUsage, "gatewayd serve --help"},
		{serve("now"), exitUsage, `takes no arguments, got "now"`},
		{[]string{"serve", "--worker", "ftp://h"}, exitUsage, "http:// or https://"},
		{[]string{"serve", "--worker", "http://a:1", "--worker", "http://a:1"}, exitUsage, "a:1"},
		{serve("--plugin", "sticky:ttl"), exitUsage, "key=value"},
		{serve("--plugin", "no-such-strategy"), exitUsage, "no strategy is called"},
		{serve("--plugin", "./no/such/file"), exitUsage, "no/such/file"},
		{serve("--plugin", "sticky:colour=red", "--listen", "127.0.0.1:0"), exitUsage, "colour"},
		{serve("--log-level", "loud"), exitUsage, "loud"},
		{serve("--redis", "http://h"), exitUsage, "redis"},
		{serve("--listen", busy.Addr().String()), exitFailure, "hint: another program may have the port"},
		{[]string{"serve", "--config", "/no/such/file.yaml"}, exitUsage, "/no/such/file.yaml"},
		{[]string{"serve", "--config", write(t, "workers:\n  - url: http://h\nlisen: 1.2.3.4:1\n")}, exitUsage, ":3:1"},
		{[]string{"check", "--config", write(t, "workers: [{url: 'http://h'}]\nstrategies: ['sticky:colour=red']\n")}, exitUsage, "colour"},
		{[]string{"check", "--config", "x", "--timeout", "0s"}, exitUsage, "--timeout is 0s"},
		{[]string{"check"}, exitUsage, "check --config FILE"},
		{[]string{"check", "--config", write(t, "workers: 7\n")}, exitUsage, ":1:"},
		{[]string{"version", "please"}, exitUsage, "takes no arguments"},
		{[]string{"strategy"}, exitUsage, "one strategy name"},
		{[]string{"strategy", "no-such-strategy"}, exitUsage, "no strategy is called"},
	} {
		code, _, stderr := command(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("gatewayd %s: code %d, want %d, saying %q:\n%s", strings.Join(c.args, " "), code, c.code, c.says, stderr)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"help"}, {"serve", "--help"}, {"help", "serve"}, {"demo", "--help"}, {"check", "--help"}} {
		code, stdout, stderr := command(t, args...)
		if code != exitOK || !strings.Contains(stdout, "Example:") || stderr != "" {
			t.Errorf("gatewayd %v: code %d\n%s%s", args, code, stdout, stderr)
		}
		if strings.Contains(stdout, "   strategy") {
			t.Errorf("gatewayd %v shows the hidden command", args)
		}
	}
	for _, args := range []string{"version", "--version"} {
		if code, stdout, _ := command(t, args); code != exitOK || stdout != "gatewayd dev\n" {
			t.Errorf("%s: code %d, %q", args, code, stdout)
		}
	}
}

func TestCheck(t *testing.T) {
	good := write(t, fmt.Sprintf("strategies: [cacheroute, 'joule:mode=carbon']\nworkers:\n  - url: %s\n    id: good\n", emulatedWorker(t)))
	if code, stdout, stderr := command(t, "check", "--config", good); code != exitOK || !strings.Contains(stdout, "ok, 1 worker, 2 strategies") {
		t.Errorf("check: code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr := command(t, "check", "--config", good, "--probe", "--timeout", "1m")
	if code != exitOK || strings.Count(stdout, " ok ") != 3 || !strings.Contains(stdout, "serves m") {
		t.Errorf("check --probe: code %d\n%s%s", code, stdout, stderr)
	}
	bad := write(t, "strategies: [/bin/true]\nworkers:\n  - url: http://127.0.0.1:1\n    id: nobody\n")
	code, stdout, stderr = command(t, "check", "--config", bad, "--probe", "--timeout", "2s")
	if code != exitFailure || strings.Count(stdout, "FAILED") != 2 || !strings.Contains(stderr, "2 probes failed") {
		t.Errorf("check --probe of bad things: code %d\n%s%s", code, stdout, stderr)
	}
}
