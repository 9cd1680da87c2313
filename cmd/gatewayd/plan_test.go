package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestPlan runs the scripts of testdata/plan: "plan flag=value ..." runs gatewayd
// plan with these flags and the text below as standard input; rates=- unless
// given. previous=last stands for what the script's last plan printed.
func TestPlan(t *testing.T) {
	datadriven.Walk(t, "testdata/plan", func(t *testing.T, path string) {
		last := filepath.Join(t.TempDir(), "last.json")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			args := []string{"gatewayd", d.Cmd}
			if !d.HasArg("rates") {
				args = append(args, "--rates=-")
			}
			for _, a := range d.CmdArgs {
				arg := "--" + a.Key
				for _, v := range a.Vals {
					arg += "=" + v
				}
				args = append(args, strings.Replace(arg, "=last", "="+last, 1))
			}
			var out, errs bytes.Buffer
			code := run(t.Context(), process{args: args, stdin: strings.NewReader(d.Input), stdout: &out, stderr: &errs})
			if code == exitOK {
				if err := os.WriteFile(last, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				return out.String()
			}
			return strings.ReplaceAll(fmt.Sprintf("%s%scode %d\n", out.String(), errs.String(), code), last, "last")
		})
	})
}

func TestPlanHelp(t *testing.T) {
	code, stdout, stderr := command(t, "plan", "--help")
	for _, says := range []string{"Example:", "--slots-per-worker", "saturated", "churn"} {
		if code != exitOK || stderr != "" || !strings.Contains(stdout, says) {
			t.Errorf("code %d, no %q in:\n%s%s", code, says, stdout, stderr)
		}
	}
}

// TestPlanArguments is what a script cannot say.
func TestPlanArguments(t *testing.T) {
	given := []string{"plan", "--workers=2", "--qcap=10", "--slots-per-worker=1"}
	for says, more := range map[string][]string{
		"--rates is missing":                nil,
		"flag needs an argument":            {"--rates"},
		"plan takes no arguments":           {"--rates=testdata/rates.json", "more.json"},
		"flag provided but not defined":     {"--rates=testdata/rates.json", "--qcaps=3"},
		"--rates : no such file":            {"--rates="},
		"--previous testdata/none: no such": {"--rates=testdata/rates.json", "--previous=testdata/none"},
	} {
		code, stdout, stderr := command(t, append(given, more...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, says) {
			t.Errorf("%q: code %d, printed %q, said %q, want %q", more, code, stdout, stderr, says)
		}
	}
	if code, stdout, stderr := command(t, append(given, "--rates=testdata/rates.json")...); code != exitOK || !strings.HasPrefix(stdout, `{"table":{`) || stderr != "" {
		t.Errorf("rates of a file: code %d, printed %q, said %q", code, stdout, stderr)
	}
}

// TestPlanInputIsBounded holds that a file without end is not read to its end.
func TestPlanInputIsBounded(t *testing.T) {
	_, err := readRates(&bounded{endless{}, 1 << 20})
	if !errors.Is(err, errPlanInput) {
		t.Errorf("error %v, want %v", err, errPlanInput)
	}
}

// endless is a JSON array that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	p[0] = '['
	return len(p), nil
}

// FuzzPlanInput holds plan to this: whatever it is given, it prints one JSON
// value and succeeds, or prints nothing, says what is wrong and exits with 2.
func FuzzPlanInput(f *testing.F) {
	f.Add([]byte(`[{"key":1,"rate":5},{"key":18446744073709551615,"rate":250}]`), "4", "100", "10")
	f.Add([]byte(`[{"key":1,"rate":-5}]`), "4", "100", "10")
	f.Add([]byte(`[{"key":1,"rate":1e400},{}]`), "0", "NaN", "-1")
	f.Add([]byte(`{"table":{"1":[0]}}`), "1", "1e-300", "1e300")
	f.Add([]byte(`[[[[`), "", "x", "Inf")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, input []byte, workers, qcap, slots string) {
		file := filepath.Join(dir, "input.json")
		if err := os.WriteFile(file, input, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"gatewayd", "plan", "--workers=" + workers, "--qcap=" + qcap, "--slots-per-worker=" + slots, "--rates=" + file}
		for _, more := range [][]string{nil, {"--charge=uncapped"}, {"--previous=" + file}} {
			var out, errs bytes.Buffer
			code := run(context.Background(), process{args: append(args, more...), stdout: &out, stderr: &errs})
			switch {
			case code == exitOK && strings.HasPrefix(out.String(), `{"table":{`) && errs.Len() == 0:
			case code == exitUsage && out.Len() == 0 && strings.HasPrefix(errs.String(), "gatewayd: "):
			default:
				t.Fatalf("code %d, printed %q, said %q", code, out.String(), errs.String())
			}
		}
	})
}
