package admin

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"gatewayd/internal/pool"
	"gatewayd/pkg/router"
)

// planView is a plan in force, for people.
type planView struct {
	Pool     string              `json:"pool"`
	Strategy string              `json:"strategy"`
	Version  uint64              `json:"version"`
	AgeS     float64             `json:"age_seconds"`
	Planner  bool                `json:"planned_here"`
	Workers  []string            `json:"workers"`
	Keys     int                 `json:"keys"`
	Table    map[string][]string `json:"table"` // the first keys, in hexadecimal
	Rest     string              `json:"rest"`
	Guard    *guardView          `json:"guard,omitempty"`
	BindTTLS float64             `json:"bind_ttl_seconds,omitempty"`
	Holds    int                 `json:"holds"`
	Expected []float64           `json:"expected_load,omitempty"`
	Note     string              `json:"note,omitempty"`
}

type guardView struct {
	Of     string  `json:"of"`
	Factor float64 `json:"factor"`
	Slack  float64 `json:"slack"`
}

var restNames = map[router.Order]string{
	router.Abstain: "abstain", router.ByCost: "cost", router.ByRendezvous: "rendezvous", router.ByRotation: "rotation",
}

// plans lists the plans in force with their first keys, at most limit of each.
func plans(g Gateway, limit int) []planView {
	out := []planView{}
	pools := g.Pools()
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		for _, p := range pools[name].Plans() {
			out = append(out, viewOf(name, p, pools[name].IsPlanner(), limit))
		}
	}
	return out
}

func viewOf(name string, p pool.PlanInForce, planner bool, limit int) planView {
	plan := p.Plan
	v := planView{
		Pool: name, Strategy: p.Strategy, Version: plan.Version, AgeS: max(0, time.Since(p.Installed).Seconds()), Planner: planner,
		Workers: []string{}, Keys: len(plan.Table.Keys), Table: map[string][]string{}, Rest: restNames[plan.Rest.Order],
		BindTTLS: plan.Bind.TTL.Seconds(), Holds: p.Holds, Expected: plan.Expected, Note: plan.Note,
	}
	for _, w := range plan.Workers {
		v.Workers = append(v.Workers, w.ID)
	}
	if guard := plan.Guard; guard.Factor > 0 {
		v.Guard = &guardView{guard.Of.String(), guard.Factor, guard.Slack}
	}
	for i := range min(limit, len(plan.Table.Keys)) {
		members := []string{}
		for _, m := range plan.Table.Of(i) {
			members = append(members, plan.Workers[m].ID)
		}
		v.Table[fmt.Sprintf("%016x", plan.Table.Keys[i])] = members
	}
	return v
}
