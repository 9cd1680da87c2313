package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	examples "gatewayd/examples/strategies"
)

// repository is the root of this checkout.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// buildFlags are those of make build, which has filled the build cache in CI.
func buildFlags() []string { return []string{"CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false"} }

// authorDir is where the tests of this process keep what they build once.
var authorDir = filepath.Join(os.TempDir(), fmt.Sprint("gatewayd-author-", os.Getpid()))

// authorBin builds what an author has on the PATH, once: gatewayd, which is this
// test, benchlab and the examples in Go.
var authorBin = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(authorDir, "bin")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	script := fmt.Sprintf("#!/bin/sh\nGATEWAYD_TEST_RUN=1 exec %q \"$@\"\n", os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "gatewayd"), []byte(script), 0o700); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir, "gatewayd/cmd/benchlab", "gatewayd/examples/strategies/least-work", "gatewayd/examples/strategies/spread")
	build.Env = append(os.Environ(), buildFlags()...)
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// author returns the folder of authorBin. Only whole runs of the tests build it.
func author(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves it out: it builds programs")
	}
	dir, err := authorBin()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// shell runs a script with the author's programs on its PATH.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(patience(t), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), buildFlags()...), "PATH="+author(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v of\n%s\nprinted\n%s", err, script, out)
	}
	return string(out)
}

// venv makes, once, a Python that has the example's requirements, by the commands
// that docs/writing-a-strategy.md gives.
var venv = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(authorDir, "python")
	files, err := copied(examples.Python, examples.Python)
	if err == nil {
		err = errors.Join(os.MkdirAll(authorDir, 0o700), writeProject(dir, files))
	}
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", "python3 -m venv .venv\n.venv/bin/pip install --quiet -r requirements.txt\n")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return filepath.Join(dir, ".venv"), err
})

// pythonVenv returns the folder of venv. It is missing only on machines without
// Python, and then the log says so.
func pythonVenv(t *testing.T) string {
	t.Helper()
	if exec.Command("python3", "-c", "import venv, ensurepip").Run() != nil {
		t.Skip("PYTHON IS NOT TESTED: there is no python3 with venv; on Debian, apt-get install python3-venv")
	}
	dir, err := venv()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// pythonExample returns a copy of the example in Python that has its venv.
func pythonExample(t *testing.T) string {
	t.Helper()
	author(t)
	return filepath.Dir(pythonVenv(t))
}

// TestExamples checks each example, measures it, and has it serve.
func TestExamples(t *testing.T) {
	for _, name := range []string{"least-work", "spread", "by-length"} {
		t.Run(name, func(t *testing.T) {
			path, history, requests := filepath.Join(author(t), name), "8000", "100"
			if name == "by-length" {
				path, history, requests = filepath.Join(pythonExample(t), name), "2000", "30"
				shell(t, filepath.Dir(path), ".venv/bin/python -B -m unittest")
				samePython(t, filepath.Dir(path))
			}
			if out := shell(t, "", "gatewayd plugin check --history "+history+" "+path); !strings.Contains(out, "all rules that were checked are kept") || !regexp.MustCompile(`elsewhere +ok`).MatchString(out) {
				t.Errorf("check says\n%s", out)
			}
			if out := shell(t, "", "benchlab compare --strategy "+path+" --strategy least-busy --seeds 2 --requests "+requests); !strings.Contains(out, path+" sha256 ") {
				t.Errorf("compare says\n%s", out)
			}
			serves(t, name, path)
		})
	}
}

// TestPythonPlans holds that what gives Python the protocol also plans and observes.
func TestPythonPlans(t *testing.T) {
	dir := pythonExample(t)
	planner := filepath.Join(repository(t), "cmd/gatewayd/testdata/python/planner.py")
	path := executable(t, "planner", fmt.Sprintf("PYTHONPATH=%q exec %q -B %q", dir, filepath.Join(dir, ".venv/bin/python"), planner))
	out := shell(t, "", "gatewayd plugin check --history 1000 "+path)
	if !strings.Contains(out, "all rules that were checked are kept") || !strings.Contains(out, "calls of plan") {
		t.Errorf("check says\n%s", out)
	}
	if out := shell(t, "", "gatewayd plugin describe "+path); !strings.Contains(out, "by plan, by a call") || !strings.Contains(out, "rates of keys, events") {
		t.Errorf("describe says\n%s", out)
	}
}

// serves holds that a strategy decides requests through a gateway.
func serves(t *testing.T, name, path string) {
	g := startGateway(t, nil, "--worker", emulatedWorker(t), "--worker", emulatedWorker(t), "--plugin", path, "--plugin", "least-busy")
	until(t, name+" to decide", func() bool {
		resp, body, err := g.chat("s", false)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("a request failed: %v %v %s", err, resp, body)
		}
		return resp.Header.Get("X-Gatewayd-Strategy") == name
	})
}

// blocks returns the commands of a page.
func blocks(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}
