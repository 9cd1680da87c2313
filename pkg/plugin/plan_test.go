package plugin

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

func planInput(keys int) router.PlanInput {
	in := router.PlanInput{
		Now: 5, Seed: 7, Pool: "pool", TotalRate: 1.5, OutputTokens: 200, PromptTokens: 1000,
		Fleet: router.Fleet{Number: 3, Workers: workers(40)}, PreviousAge: time.Second,
	}
	for i := range keys {
		in.Rates = append(in.Rates, router.KeyRate{Key: uint64(i) * 0x9e3779b97f4a7c15, Rate: float64(i) / 3, Tokens: float64(i), Home: i % 41})
	}
	return in
}

func TestLargePlanOverTheWireEqualsInProcess(t *testing.T) {
	remote, here := opened(t, spec("good", "plan-only")), local(t, "plan-only").(router.Planner)
	in := planInput(200_000)
	for _, round := range []string{"the first plan", "the second plan"} {
		got, err := remote.Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		want, err := here.Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s of %d keys (%s) is not %d keys (%s)", round, len(got.Table.Keys), got.Note, len(want.Table.Keys), want.Note)
		}
		in.Previous = &want
	}
	if _, err := remote.RouteContext(t.Context(), request("x"), TraceContext{}); err == nil {
		t.Error("an instance that does not route has routed")
	} else {
		wantError(t, "route", err, ErrUnsupported, "plugin test: route")
	}
}

func TestPlansAreChecked(t *testing.T) {
	good := opened(t, spec("good", "faulty"))
	wrong := opened(t, spec("wrong", ""))
	for pool, c := range map[string]struct {
		at   *Instance
		kind error
		want string
	}{
		"error":       {good, ErrStrategy, "plugin test: plan: no plan today"},
		"offsets":     {good, ErrInvalid, "offsets do not frame 1 keys"},
		"long note":   {good, ErrInvalid, "note of 5000 bytes"},
		"no header":   {wrong, ErrInvalid, "its first part"},
		"two headers": {wrong, ErrInvalid, "no other"},
		"order":       {wrong, ErrInvalid, "unknown order 9"},
		"feature":     {wrong, ErrInvalid, "unknown feature 99"},
		"nan":         {wrong, ErrInvalid, "not finite"},
		"among":       {wrong, ErrInvalid, "among worker 2 of 2"},
		"wide among":  {wrong, ErrInvalid, "worker index 65536"},
		"member":      {wrong, ErrInvalid, "names worker 2 of 2"},
		"wide member": {wrong, ErrInvalid, "worker index 65536"},
		"counts":      {wrong, ErrInvalid, "1 keys but 0 counts"},
		"too many":    {wrong, ErrInvalid, "more members than the 1"},
		"too few":     {wrong, ErrInvalid, "fewer members than the 2"},
		"empty":       {wrong, ErrInvalid, "ended its answer too early"},
		"delta":       {wrong, ErrInvalid, "changes to that of another plan"},
	} {
		_, err := c.at.Plan(router.PlanInput{Pool: pool})
		wantError(t, pool, err, c.kind, c.want)
	}
	bad := router.Plan{Table: router.Table{Keys: []uint64{1}}}
	_, err := good.Plan(router.PlanInput{Previous: &bad})
	wantError(t, "a bad previous plan", err, ErrInvalid, "previous plan")
}

func TestHungPlan(t *testing.T) {
	i := opened(t, spec("good", "faulty"))
	// The route that follows runs beside the plan that hangs.
	_, err := i.PlanContext(soon(t), router.PlanInput{Pool: "hang"}, TraceContext{})
	wantError(t, "a hung plan", err, ErrLate, "plugin test: plan: plugin did not answer in time")
	if d, err := i.RouteContext(t.Context(), request("x"), TraceContext{}); err != nil || d.Reason != "x" {
		t.Errorf("a route beside a hung plan: %+v, %v", d, err)
	}
	_, err = i.Plan(router.PlanInput{})
	wantError(t, "a second plan", err, ErrBusy, "still being computed")
}

func TestPoolsOfOneProcess(t *testing.T) {
	p := started(t, spec("good", "plan-only"))
	for n := range 5 {
		i, err := p.Open(t.Context(), router.Options{}, uint64(n), fmt.Sprint(n))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := i.Plan(planInput(10)); err != nil {
			t.Error(err)
		}
		if err := i.Close(); err != nil {
			t.Error(err)
		}
		_, err = i.Plan(planInput(10))
		wantError(t, "a plan of a closed instance", err, ErrDown, "")
	}
}
