package rules

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gatewayd/pkg/router"
)

// wrong is a good strategy with one thing wrong.
type wrong struct {
	info  router.Info
	route func(in router.Input, good router.Decision) router.Decision
	plan  func(in router.PlanInput, good router.Plan) (router.Plan, error)
}

func (w *wrong) Info() router.Info { return w.info }

// Route ranks by requests in flight and then by ID.
func (w *wrong) Route(in router.Input) router.Decision {
	best := make([]router.Placement, len(in.Workers))
	for i := range best {
		best[i].Worker = i
	}
	slices.SortFunc(best, func(a, b router.Placement) int {
		x, y := in.Workers[a.Worker], in.Workers[b.Worker]
		if x.Load.InFlight != y.Load.InFlight {
			return x.Load.InFlight - y.Load.InFlight
		}
		return strings.Compare(x.ID, y.ID)
	})
	d := router.Decision{Verdict: router.Route, Ranking: best, Reason: "least"}
	if w.route != nil {
		return w.route(in, d)
	}
	return d
}

// Plan gives each key the worker of the least weight by rendezvous.
func (w *wrong) Plan(in router.PlanInput) (router.Plan, error) {
	p := router.Plan{Rest: router.Rest{Order: router.Abstain}}
	for _, f := range in.Fleet.Workers {
		p.Workers = append(p.Workers, router.WorkerRef{ID: f.ID, Incarnation: f.Incarnation})
	}
	for _, rate := range in.Rates {
		if len(p.Workers) == 0 {
			break
		}
		best := 0
		for i, f := range p.Workers {
			if router.Rendezvous(rate.Key, router.HashID(f.ID)) > router.Rendezvous(rate.Key, router.HashID(p.Workers[best].ID)) {
				best = i
			}
		}
		p.Table.Append(rate.Key, uint16(best))
	}
	if w.plan != nil {
		return w.plan(in, p)
	}
	return p, nil
}

// define makes a definition of instances that build makes.
func define(build func() *wrong) router.Definition {
	return router.Definition{Name: "example", Version: "1", Summary: "An example.",
		Options: []router.Option{{Name: "mode", Default: "a", Help: "How.", Values: []string{"a", "b"}}},
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			for k, v := range o {
				if k != "mode" || v != "a" && v != "b" {
					return nil, fmt.Errorf("option %s=%s: there is mode, a or b", k, v)
				}
			}
			w := build()
			w.info.Name, w.info.Version = "example", "1"
			w.info.Routes, w.info.Plans, w.info.Rates = true, true, true
			return w, nil
		}}
}

func routes(route func(router.Input, router.Decision) router.Decision) router.Definition {
	return define(func() *wrong { return &wrong{route: route} })
}

func plans(plan func(router.PlanInput, router.Plan) (router.Plan, error)) router.Definition {
	return define(func() *wrong { return &wrong{plan: plan} })
}

func heap() (uint64, error) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, nil
}

// checked returns the rules that a strategy breaks, and the report.
func checked(t *testing.T, d router.Definition, cfg Config) (broken []string, text string) {
	t.Helper()
	report, err := Check(t.Context(), d, cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.Write(&b); err != nil {
		t.Fatal(err)
	}
	return report.Broken(), b.String()
}

func TestGoodStrategy(t *testing.T) {
	good := routes(nil)
	broken, text := checked(t, good, Config{Memory: heap, History: 16_000, Twin: &good})
	if len(broken) > 0 || strings.Count(text, " ok ")+strings.Count(text, " ok\n") < len(Rules()) {
		t.Errorf("a good strategy does not pass:\n%s", text)
	}
}

// TestWrongStrategies holds that each rule finds a strategy that breaks it.
func TestWrongStrategies(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range wrongs() {
		t.Run(w.rule+" "+w.how, func(t *testing.T) {
			cfg := Config{Twin: w.twin}
			if w.rule == "memory" {
				cfg.Memory, cfg.History = heap, 16_000
			}
			broken, text := checked(t, w.def, cfg)
			if !slices.Contains(broken, w.rule) || !strings.Contains(text, w.says) {
				t.Errorf("broken are %v; %s must be, saying %q:\n%s", broken, w.rule, w.says, text)
			}
			for _, other := range broken {
				if other != w.rule && !slices.Contains(w.also, other) {
					t.Errorf("rule %s is broken as well:\n%s", other, text)
				}
			}
		})
		seen[w.rule] = true
	}
	for _, r := range Rules() {
		if !seen[r.Name] {
			t.Errorf("no wrong strategy breaks rule %s", r.Name)
		}
	}
}

func TestExcept(t *testing.T) {
	leaky := wrongs()[0]
	report, err := Check(t.Context(), leaky.def, Config{Except: []string{leaky.rule}})
	if err != nil || len(report.Broken()) > 0 {
		t.Errorf("broken are %v, error %v", report.Broken(), err)
	}
	if _, err := Check(t.Context(), leaky.def, Config{Except: []string{"manners"}}); err == nil || !strings.Contains(err.Error(), "there are description") {
		t.Errorf("an unknown rule gives %v", err)
	}
}

func TestEndedCheck(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := Check(ctx, routes(nil), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Skipped != "the check was ended" {
			t.Errorf("%s: %+v", r.Rule, r)
		}
	}
}
