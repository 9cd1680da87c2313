package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/pkg/router"
)

// Config says what is checked and how. The zero value checks a strategy with its
// default options.
type Config struct {
	// Options are those of the instances under test.
	Options router.Options
	// Twin is the same strategy in another process, for the rule "elsewhere",
	// which is not checked without.
	Twin *router.Definition
	// Memory returns the bytes that the strategy's process holds. The rule "memory"
	// is not checked without.
	Memory func() (uint64, error)
	// MemorySlack is how much they may grow, in bytes, over the second half of the
	// history; 256 KiB.
	MemorySlack uint64
	// History is the number of requests of the rule "memory"; 40,000.
	History int
	// Patience bounds one call of a strategy in another process; 10 s. It is for
	// hangs: no rule judges speed.
	Patience time.Duration
	// Except names rules that are not checked.
	Except []string
}

// trial is one strategy under check.
type trial struct {
	def     router.Definition
	cfg     Config
	result  *Result // of the rule at work
	base    []answer
	remote  bool
	opening error // the instance under test cannot be opened
}

// Check checks a strategy by all rules, one after the other; it takes seconds.
// The context ends it early: rules that were not reached are skipped. The error
// says that cfg is wrong.
func Check(ctx context.Context, d router.Definition, cfg Config) (Report, error) {
	if cfg.History <= 0 {
		cfg.History = 40_000
	}
	if cfg.MemorySlack == 0 {
		cfg.MemorySlack = 256 << 10
	}
	if cfg.Patience <= 0 {
		cfg.Patience = 10 * time.Second
	}
	var all []string
	for _, r := range Rules() {
		all = append(all, r.Name)
	}
	for _, name := range cfg.Except {
		if !slices.Contains(all, name) {
			return Report{}, fmt.Errorf("no rule is called %q: there are %s", name, strings.Join(all, ", "))
		}
	}
	t := &trial{def: d, cfg: cfg}
	o, err := t.open(d)
	if t.opening = err; err == nil {
		t.remote = o.remote != nil
		t.base = t.play(ctx, o, script(o.info, scriptSteps, true), change{})
		o.close()
	}
	report := Report{Strategy: d.Name, Version: d.Version, Routes: timing(t.base, false), Plans: timing(t.base, true)}
	for _, r := range Rules() {
		report.Results = append(report.Results, t.judge(ctx, r))
	}
	return report, nil
}

func (t *trial) judge(ctx context.Context, r Rule) Result {
	result := Result{Rule: r.Name, Says: r.Says}
	t.result = &result
	switch {
	case slices.Contains(t.cfg.Except, r.Name):
		result.Skipped = "excepted"
	case ctx.Err() != nil:
		result.Skipped = "the check was ended"
	case t.opening != nil && r.Name != "description":
		result.Skipped = "no instance could be opened"
	default:
		r.check(ctx, t)
	}
	return result
}

// found notes that the rule at work is broken.
func (t *trial) found(format string, args ...any) {
	t.result.Findings = append(t.result.Findings, fmt.Sprintf(format, args...))
}

// skip notes that the rule at work cannot be checked.
func (t *trial) skip(format string, args ...any) { t.result.Skipped = fmt.Sprintf(format, args...) }
