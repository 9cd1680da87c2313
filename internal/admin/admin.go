// Package admin is the gateway's second listener: metrics, and what operators
// want to see of plans, workers and strategies as JSON.
package admin

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strconv"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/internal/pool"
	"gatewayd/pkg/router"
)

// Gateway is what the pages are made from.
type Gateway interface {
	Pools() map[string]*pool.Pool
	Strategies() []string
}

// New returns the handler of the admin listener.
func New(version string, metrics http.Handler, g Gateway, f *fleet.Fleet) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "this path takes GET requests only", http.StatusMethodNotAllowed)
			return
		}
		switch path.Clean("/" + r.URL.Path) {
		case "/metrics":
			metrics.ServeHTTP(w, r)
		case "/health", "/healthz":
			w.Write([]byte("ok\n"))
		case "/plans":
			answer(w, plans(g, keys(r)))
		case "/workers":
			answer(w, workers(g, f))
		case "/strategies":
			answer(w, g.Strategies())
		case "/version":
			answer(w, version)
		default:
			http.Error(w, "there is nothing at this path; see /metrics, /plans, /workers, /strategies, /version", http.StatusNotFound)
		}
	})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// defaultKeys is how many of a plan's keys are listed unless ?keys=N says more.
const defaultKeys = 20

func keys(r *http.Request) int {
	if n, err := strconv.Atoi(r.URL.Query().Get("keys")); err == nil && n >= 0 {
		return n
	}
	return defaultKeys
}

// planView is a plan in force, for people.
type planView struct {
	Pool      string              `json:"pool"`
	Strategy  string              `json:"strategy"`
	Version   uint64              `json:"version"`
	AgeS      float64             `json:"age_seconds"`
	Planner   bool                `json:"planned_here"`
	Workers   []string            `json:"workers"`
	Keys      int                 `json:"keys"`
	Table     map[string][]string `json:"table"` // the first keys, in hexadecimal
	Rest      string              `json:"rest"`
	BindTTLS  float64             `json:"bind_ttl_seconds,omitempty"`
	Holds     int                 `json:"holds"`
	Expected  []float64           `json:"expected_load,omitempty"`
	Note      string              `json:"note,omitempty"`
	GuardedBy string              `json:"guard,omitempty"`
}

var restNames = map[router.Order]string{
	router.Abstain: "abstain", router.ByCost: "cost", router.ByRendezvous: "rendezvous", router.ByRotation: "rotation",
}

func plans(g Gateway, limit int) []planView {
	out := []planView{}
	pools := g.Pools()
	var names []string
	for name := range pools {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, p := range pools[name].Plans() {
			v := planView{
				Pool: name, Strategy: p.Strategy, Version: p.Plan.Version, AgeS: time.Since(p.Installed).Seconds(),
				Planner: pools[name].IsPlanner(), Keys: len(p.Plan.Table.Keys), Table: map[string][]string{},
				Rest: restNames[p.Plan.Rest.Order], BindTTLS: p.Plan.Bind.TTL.Seconds(), Holds: p.Holds,
				Expected: p.Plan.Expected, Note: p.Plan.Note,
			}
			for _, w := range p.Plan.Workers {
				v.Workers = append(v.Workers, w.ID)
			}
			if p.Plan.Guard.Factor > 0 {
				v.GuardedBy = p.Plan.Guard.Of.String()
			}
			for i := range min(limit, len(p.Plan.Table.Keys)) {
				var members []string
				for _, m := range p.Plan.Table.Of(i) {
					members = append(members, p.Plan.Workers[m].ID)
				}
				v.Table[strconv.FormatUint(p.Plan.Table.Keys[i], 16)] = members
			}
			out = append(out, v)
		}
	}
	return out
}

// workerView is a worker's status and its load in every pool.
type workerView struct {
	fleet.Status
	InFlight     int `json:"in_flight"`
	QueuedTokens int `json:"queued_tokens"`
}

func workers(g Gateway, f *fleet.Fleet) []workerView {
	inFlight, queued := map[string]int{}, map[string]int{}
	for _, p := range g.Pools() {
		for _, m := range p.Loads() {
			inFlight[m.ID] = max(inFlight[m.ID], m.Load.InFlight)
			queued[m.ID] = max(queued[m.ID], m.Load.QueuedTokens)
		}
	}
	out := []workerView{}
	for _, s := range f.Workers() {
		out = append(out, workerView{s, inFlight[s.ID], queued[s.ID]})
	}
	return out
}
