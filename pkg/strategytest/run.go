package strategytest

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategytest/rules"
)

// Options say how a strategy is checked. The zero value checks it with its
// default options, by all rules.
type Options struct {
	// Options are the strategy's own.
	Options router.Options
	// Except names rules that the strategy breaks on purpose.
	Except []string
	// History is the number of requests of the rule "memory"; 40,000.
	History int
	// InProcess checks the strategy in the test's process only.
	InProcess bool
}

// envServe makes the test binary a plugin that serves the strategy of the test
// and of the name it holds.
const envServe = "GATEWAYD_STRATEGYTEST"

// Run holds the strategy to all rules, each as a subtest. It takes a second or
// two, and must not run beside tests that allocate, since one rule measures the
// memory of the process: do not call it from a parallel test.
func Run(t *testing.T, d router.Definition, o Options) {
	t.Helper()
	me := t.Name() + " " + d.Name
	if as, ok := os.LookupEnv(envServe); ok {
		if as == me {
			plugin.Serve(d)
			os.Exit(0)
		}
		return
	}
	cfg := rules.Config{Options: o.Options, Except: o.Except, History: o.History, Memory: heap}
	if !o.InProcess {
		process, err := launch(t, d.Name, me)
		if err != nil {
			t.Fatalf("the strategy cannot be served by a process of its own: %v", err)
		}
		defer process.Close()
		for _, there := range process.Describe().Definitions {
			cfg.Twin = &there
		}
	}
	report, err := rules.Check(t.Context(), d, cfg)
	if err != nil {
		t.Fatal(err)
	}
	show(t, report)
}

// show makes a subtest of each rule.
func show(t *testing.T, report rules.Report) {
	t.Helper()
	for _, r := range report.Results {
		t.Run(r.Rule, func(t *testing.T) {
			if r.Skipped != "" {
				t.Skip(r.Skipped)
			}
			if r.Note != "" {
				t.Log(r.Note)
			}
			if len(r.Findings) > 0 {
				t.Errorf("rule: %s\n%s", r.Says, strings.Join(r.Shown(), "\n"))
			}
		})
	}
	for _, took := range []struct {
		what string
		rules.Timing
	}{{"Route", report.Routes}, {"Plan", report.Plans}} {
		if took.Calls > 0 {
			t.Logf("%d calls of %s: median %v, p99 %v, worst %v", took.Calls, took.what, took.Median, took.P99, took.Worst)
		}
	}
}

// launch starts the test binary as a plugin that serves the strategy.
func launch(t *testing.T, name, me string) (*plugin.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	only := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return plugin.Launch(ctx, plugin.Spec{
		Name: name, Path: self, Args: []string{"-test.run=" + only},
		Env:          []string{envServe + "=" + me},
		StartTimeout: time.Minute, CallTimeout: time.Minute, // for hangs; no rule judges speed
	})
}

// heap returns the bytes in use after garbage is collected.
func heap() (uint64, error) {
	var m runtime.MemStats
	for range 2 { // what a finalizer lets go of is collected by the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	if m.HeapAlloc == 0 {
		return 0, fmt.Errorf("the runtime tells no heap")
	}
	return m.HeapAlloc, nil
}
