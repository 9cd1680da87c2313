package cacheroute

import (
	"fmt"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// TestOverloadEscape: a key that goes hot between two plans does not drown its
// home. Beyond the guard its requests go elsewhere, and come back once there is
// room again.
func TestOverloadEscape(t *testing.T) {
	instance, err := Definition().New(router.Options{"slack": "8"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	core, err := router.New(router.Config{Pool: "p", Links: []router.Link{{Name: name, Info: instance.Info()}}, MaxLife: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	const workers, keys = 4, 8
	var members []router.Member
	for i := range workers {
		members = append(members, router.Member{Worker: router.Worker{ID: fmt.Sprintf("w%d", i), KVTokens: 10_000}})
	}
	if err := core.SetFleet(0, members); err != nil {
		t.Fatal(err)
	}
	now := router.Time(0)
	send := func(key uint64) router.Step {
		return core.Arrive(now, router.Request{Key: key, PromptTokens: 100, Blocks: []uint64{key}, BlockTokens: 100})
	}
	finish := func(s router.Step) {
		core.Finish(now, s.Ticket, router.Ending{Outcome: router.Completed, Usage: router.Usage{PromptTokens: 100, CachedTokens: 90}})
	}
	for range 20 {
		for key := range uint64(keys) {
			finish(send(key + 1))
		}
		now = now.Add(100 * time.Millisecond)
	}
	for _, task := range core.PlansDue(now) {
		plan, err := instance.(router.Planner).Plan(task.Input())
		if err != nil {
			t.Fatal(err)
		}
		plan.Version = task.Version
		compiled, err := router.Compile(&plan)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Table.Keys) != keys {
			t.Fatalf("%d of %d keys have a place: %s", len(plan.Table.Keys), keys, plan.Note)
		}
		if err := core.Install(now, task.Link, compiled); err != nil {
			t.Fatal(err)
		}
	}
	const hot = 3
	plan, _ := core.PlanAt(0)
	home := plan.Workers[Homes(&plan.Table, hot)[0]].ID
	if n := len(Homes(&plan.Table, hot)); n != 1 {
		t.Fatalf("the key has %d homes before it is hot", n)
	}
	at, most := map[string]int{}, 0
	var open []router.Step
	for range 100 {
		s := send(hot)
		at[s.Worker.ID]++
		most = max(most, at[s.Worker.ID])
		open = append(open, s)
	}
	if at[home] < 8 || most > 100*3/2/workers+1 || len(at) != workers {
		t.Errorf("100 requests at once are at %v, home is %s; want all workers, none above 1.5 times the mean", at, home)
	}
	for _, s := range open {
		finish(s)
	}
	if s := send(hot); s.Worker.ID != home || s.Receipt.Reason != "table" {
		t.Errorf("afterwards it goes to %s by %s, want its home %s by the table", s.Worker.ID, s.Receipt.Reason, home)
	}
}
