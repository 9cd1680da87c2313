package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gatewayd/benchlab/engine"
)

const recordedRuns = "../../benchlab/calibrate/testdata/"

// TestCalibrate fits profiles to the recorded runs of real GPUs, and holds what
// validate says of them: the accuracy on the fitted requests and on those that the
// fit has not seen. It runs the executable, as users do.
func TestCalibrate(t *testing.T) {
	benchlab := build(t, "gatewayd/cmd/benchlab", "benchlab")
	for _, c := range []struct {
		run       string
		fit       int
		e2e, ttft float64 // largest errors of the means, per cent
	}{
		{"RTXPRO6000_Llama-3.1-8B", 0, 1, 3},
		{"RTXPRO6000_Llama-3.1-8B", 150, 3, 10},
		{"RTXPRO6000_Qwen3-32B", 0, 1, 3},
		{"RTXPRO6000_Qwen3-32B", 150, 3, 10},
	} {
		t.Run(c.run+"/"+strconv.Itoa(c.fit), func(t *testing.T) {
			t.Parallel()
			call := func(args ...string) []byte {
				out, err := exec.CommandContext(t.Context(), benchlab, append(args, "--run", recordedRuns+c.run)...).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
				return out
			}
			n, file := strconv.Itoa(c.fit), filepath.Join(t.TempDir(), "fit.json")
			said := string(call("calibrate", "--fit", n, "--out", file))
			for _, want := range []string{"power: no power was recorded", "kv_blocks ", "std err %"} {
				if !strings.Contains(said, want) {
					t.Errorf("calibrate does not say %q:\n%s", want, said)
				}
			}
			var v struct {
				TTFT, E2E struct {
					Mean *float64 `json:"mean_pct"`
				}
				Each []json.RawMessage `json:"per_request"`
			}
			if err := json.Unmarshal(call("validate", "--profile", file, "--skip", n, "--json"), &v); err != nil || v.TTFT.Mean == nil || v.E2E.Mean == nil {
				t.Fatalf("%v: %+v", err, v)
			}
			if off := *v.E2E.Mean; off < -c.e2e || off > c.e2e {
				t.Errorf("e2e.mean_pct is %v, want within %v", off, c.e2e)
			}
			if off := *v.TTFT.Mean; off < -c.ttft || off > c.ttft {
				t.Errorf("ttft.mean_pct is %v, want within %v", off, c.ttft)
			}
			if len(v.Each) != 300-c.fit {
				t.Errorf("%d requests are judged", len(v.Each))
			}
		})
	}
}

// TestCalibrateLive probes an emulated worker in wall time. How near the fit comes
// depends on the machine; that it ends with a profile that can be used does not.
func TestCalibrateLive(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, w := io.Pipe()
	exit := make(chan int, 1)
	p := program{stdout: w, stderr: io.Discard, args: []string{"benchlab", "worker", "--listen", "127.0.0.1:0", "--speed", "4"}}
	go func() { exit <- p.run(ctx) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line[strings.LastIndex(line, " ")+1:])
	file := filepath.Join(t.TempDir(), "live.json")
	code, stdout, stderr := bench(t.Context(), "calibrate", "--target", address, "--probe-requests", "25", "--out", file)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"probed " + address, "prefix cache: a repeated prompt", "no physical bounds", "28023 KV blocks", "too few for the whole plan"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := engine.ReadProfile(bytes.NewReader(data))
	if err != nil || profile.KVBlocks != 28023 || profile.Model != "Llama-3.1-8B" {
		t.Errorf("wrote %+v, %v", profile, err)
	}
	if _, err := engine.New(profile); err != nil {
		t.Error(err)
	}
	interrupt()
	if code := <-exit; code != exitOK {
		t.Errorf("the worker exits with %d", code)
	}
}

// TestCalibrationPage runs the commands of docs/calibration.md in their order, but
// for those that need a live worker.
func TestCalibrationPage(t *testing.T) {
	benchlab := build(t, "gatewayd/cmd/benchlab", "benchlab")
	page, err := os.ReadFile("../../docs/calibration.md")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fit.json")
	ran := 0
	for line := range strings.Lines(string(page)) {
		args := strings.Fields(strings.ReplaceAll(line, "fit.json", file))
		if len(args) < 2 || args[0] != "bin/benchlab" || strings.Contains(line, "--target") {
			continue
		}
		ran++
		command := exec.CommandContext(t.Context(), benchlab, args[1:]...)
		command.Dir = "../.."
		if out, err := command.CombinedOutput(); err != nil || len(out) == 0 {
			t.Errorf("%s: %v\n%s", strings.TrimSpace(line), err, out)
		}
	}
	if ran < 5 {
		t.Errorf("%d commands found, want 5 or more", ran)
	}
}
