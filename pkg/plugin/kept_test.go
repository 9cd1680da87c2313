package plugin

import (
	"reflect"
	"testing"

	"gatewayd/pkg/router"
)

// ascending is a plan input whose keys ascend, as a core's do.
func ascending(keys int) router.PlanInput {
	in := planInput(keys)
	for i := range in.Rates {
		in.Rates[i].Key = uint64(i) << 20
	}
	return in
}

// The previous plan is not sent back to the plugin that made it, and a plan that
// changes little comes as what changes. Neither changes the plan.
func TestPlansTravelAsChanges(t *testing.T) {
	const keys = 50_000
	p := started(t, spec("good", "plan-only"))
	w := watch(t, p)
	remote, err := p.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	here := local(t, "plan-only").(router.Planner)
	in := ascending(keys)
	plan := func(what string) (plan router.Plan, delta, kept bool) {
		t.Helper()
		got, err := remote.Plan(in)
		if err != nil {
			t.Fatal(what, err)
		}
		want, err := here.Plan(in)
		if err != nil {
			t.Fatal(what, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s of %d keys (%s) is not %d keys (%s)", what, len(got.Table.Keys), got.Note, len(want.Table.Keys), want.Note)
		}
		return got, w.received[0].GetDelta(), w.sent[0].GetInput().GetKept() > 0
	}
	first, delta, kept := plan("the first plan")
	if delta || kept {
		t.Errorf("the first plan: delta %v, kept %v", delta, kept)
	}
	whole, _ := w.sizes()
	_, answer := w.sizes()

	in.Previous = &first
	in.Rates = append(in.Rates[:100:100], in.Rates[200:]...) // a hundred keys fewer
	second, delta, kept := plan("the second plan")
	if !delta || !kept {
		t.Errorf("the second plan: delta %v, kept %v", delta, kept)
	}
	if sent, received := w.sizes(); sent > whole || received > answer/100 {
		t.Errorf("%d and %d bytes are sent, after %d and %d for the first plan", sent, received, whole, answer)
	}

	// One gateway's plan is in force in another: it is sent whole.
	copied := second
	copied.Table.Keys = append([]uint64(nil), second.Table.Keys...)
	in.Previous = &copied
	if _, delta, kept = plan("a plan after another's"); !delta || kept {
		t.Errorf("a plan after another's: delta %v, kept %v", delta, kept)
	}

	// Other workers make another table.
	third, _, _ := plan("the third plan")
	in.Previous, in.Fleet.Workers = &third, in.Fleet.Workers[1:]
	if _, delta, kept = plan("a plan for another fleet"); delta || !kept {
		t.Errorf("a plan for another fleet: delta %v, kept %v", delta, kept)
	}

	// What the plugin has forgotten is sent whole.
	r := remote.now.Load()
	fourth, _, _ := plan("the fourth plan")
	in.Previous = &fourth
	r.kept.Store(&keptTable{r.kept.Load().number + 10, fourth.Table})
	if _, delta, kept = plan("a plan after a forgotten one"); !delta || kept {
		t.Errorf("a plan after a forgotten one: delta %v, kept %v", delta, kept)
	}
}
