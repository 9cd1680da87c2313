package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/cmd/benchlab/testdata/asker"
	"gatewayd/pkg/plugin/ref"
)

// build compiles a package of this module and returns the executable.
func build(t *testing.T, pkg, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", file, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return file
}

// TestPlugin holds that a strategy decides the same in a process of its own: all
// figures are equal.
func TestPlugin(t *testing.T) {
	path := build(t, "gatewayd/plugins/cacheroute", "cacheroute")
	results := make([]*report.Comparison, 2)
	for i, strategy := range []string{"cacheroute", path} {
		chain := strategy + ":qcap=0.5:stated=0+sticky"
		code, stdout, stderr := bench(t.Context(), "compare", "--requests", "400", "--rate-scale", "6", "--seeds", "2", "--json", "-", "--strategy", chain)
		if code != exitOK {
			t.Fatalf("%s: exit %d: %s", strategy, code, stderr)
		}
		if !strings.Contains(stdout, `"reason": "table"`) {
			t.Errorf("%s: the table decided nothing", strategy)
		}
		results[i] = comparison(t, stdout)
	}
	if p := results[1].Setup.Programs; len(p) != 1 || p[0].Path != path || len(p[0].SHA256) != 64 || len(results[0].Setup.Programs) != 0 {
		t.Errorf("plugins are %v and %v", results[0].Setup.Programs, p)
	}
	a, err := json.Marshal(results[0].Contenders[0].Runs)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(results[1].Contenders[0].Runs)
	if err != nil || string(a) != string(b) {
		t.Errorf("in process and as a plugin differ:\n%s\n%s", a, b)
	}
}

// TestPluginCalls does the same for a strategy that is asked for every request
// and observes.
func TestPluginCalls(t *testing.T) {
	path := build(t, "gatewayd/cmd/benchlab/testdata/asker/plugin", "asker")
	ctx, fail := context.WithCancelCause(t.Context())
	defer fail(nil)
	h := newHost(t.Output(), fail)
	defer h.close()
	s := asked(t, path)
	results := make([]string, 2)
	for i, all := range []sources{inTest{}, h} {
		c := s.contenders[0]
		if err := c.find(ctx, all); err != nil {
			t.Fatal(err)
		}
		ready, err := s.traffic.prepare(1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.simulate(ctx, &c, s.config(ready), func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(report.NewRun(1, o.Run, s.slo))
		if err != nil {
			t.Fatal(err)
		}
		if o.clocks[0].routes.calls < 200 || o.Decisions[0].Reason != "drawn" {
			t.Errorf("%d calls, decisions %v", o.clocks[0].routes.calls, o.Decisions)
		}
		results[i] = string(b)
	}
	if results[0] != results[1] {
		t.Errorf("in process and as a plugin differ:\n%s\n%s", results[0], results[1])
	}
}

// asked is a study of the asker, which is at a path, on little traffic.
func asked(t *testing.T, path string) *study {
	t.Helper()
	in, err := readTrace("")
	if err != nil {
		t.Fatal(err)
	}
	return &study{
		contenders: []contender{{name: "asker", chain: []ref.Ref{{Name: path}}}}, seeds: []uint64{1},
		traffic: traffic{input: in, rows: 200, scale: 1}, workers: 4, profile: profile(t),
		slo: measure.SLO{TTFT: time.Second, TPOT: time.Second},
	}
}

// inTest finds the asker in this process, whatever it is called.
type inTest struct{}

func (inTest) find(context.Context, ref.Ref) (source, error) { return local{asker.Definition()}, nil }

// TestPluginDies ends the comparison, since its result would be another one.
func TestPluginDies(t *testing.T) {
	path := build(t, "gatewayd/cmd/benchlab/testdata/asker/plugin", "asker")
	ctx, fail := context.WithCancelCause(t.Context())
	defer fail(nil)
	h := newHost(t.Output(), fail)
	defer h.close()
	s := asked(t, path)
	if err := s.contenders[0].find(ctx, h); err != nil {
		t.Fatal(err)
	}
	for _, r := range h.plugins {
		r.process.Close()
	}
	p := program{stdout: t.Output(), stderr: t.Output()}
	if _, err := p.compared(ctx, s, &race{}); err == nil || !strings.Contains(err.Error(), "plugin asker: ") {
		t.Errorf("got %v, want the plugin's error", err)
	}
}
