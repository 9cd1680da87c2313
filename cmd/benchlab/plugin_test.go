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
	"gatewayd/benchlab/sim"
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
// output is equal but for the contender's name.
func TestPlugin(t *testing.T) {
	path := build(t, "gatewayd/plugins/cacheroute", "cacheroute")
	results := make([]string, 2)
	for i, strategy := range []string{"cacheroute", path} {
		chain := strategy + ":qcap=0.5+sticky"
		code, stdout, stderr := bench(t.Context(), "compare", "--requests", "400", "--rate-scale", "6", "--json", "-", "--strategy", chain)
		if code != exitOK {
			t.Fatalf("%s: exit %d: %s", strategy, code, stderr)
		}
		if !strings.Contains(stdout, `"reason": "table"`) {
			t.Errorf("%s: the table decided nothing", strategy)
		}
		results[i] = strings.Replace(stdout, chain, "NAME", 1)
	}
	if results[0] != results[1] {
		t.Errorf("in process and as a plugin differ:\n%s\n%s", results[0], results[1])
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
	results := make([]string, 2)
	for i, all := range []sources{inTest{}, h} {
		c := contender{name: "asker", chain: []ref.Ref{{Name: path}}}
		if err := c.open(ctx, all, 1); err != nil {
			t.Fatal(err)
		}
		tr, err := readTrace("")
		if err != nil {
			t.Fatal(err)
		}
		config := sim.Config{Trace: tr.trace.Spread(1).Cut(200), Workers: sim.Fleet(4, profile(t)), Chain: c.links, Seed: 1}
		run, err := sim.Run(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(report.NewContender(c.name, run, measure.SLO{TTFT: time.Second, TPOT: time.Second}))
		if err != nil {
			t.Fatal(err)
		}
		if c.clocks[0].routes.calls < 200 || run.Decisions[0].Reason != "drawn" {
			t.Errorf("%d calls, decisions %v", c.clocks[0].routes.calls, run.Decisions)
		}
		results[i] = string(b)
	}
	if results[0] != results[1] {
		t.Errorf("in process and as a plugin differ:\n%s\n%s", results[0], results[1])
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
	s := &study{contenders: []contender{{name: "asker", chain: []ref.Ref{{Name: path}}}}}
	if err := s.open(ctx, h); err != nil {
		t.Fatal(err)
	}
	for _, r := range h.plugins {
		r.process.Close()
	}
	tr, err := readTrace("")
	if err != nil {
		t.Fatal(err)
	}
	s.config = sim.Config{Trace: tr.trace.Spread(1).Cut(200), Workers: sim.Fleet(4, profile(t)), Seed: 1}
	p := program{stdout: t.Output(), stderr: t.Output()}
	if _, err := p.race(ctx, s, fail); err == nil || !strings.HasPrefix(err.Error(), "plugin asker: ") {
		t.Errorf("got %v, want the plugin's error", err)
	}
}
