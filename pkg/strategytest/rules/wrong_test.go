package rules

import (
	"errors"
	"math"
	"strings"
	"time"

	"gatewayd/pkg/router"
)

// wrongStrategy breaks one rule, and others only where they cannot be told apart.
type wrongStrategy struct {
	rule, how, says string
	def             router.Definition
	twin            *router.Definition
	also            []string
}

func wrongs() []wrongStrategy {
	good := routes(nil)
	unnamed, nameless, silent, shy := routes(nil), routes(nil), routes(nil), routes(nil)
	unnamed.Name, nameless.Summary = "Bad Name", "two\nlines"
	silent.New = func(router.Options, uint64) (router.Instance, error) { return nil, errors.New("no fuel") }
	shy.New = func(o router.Options, seed uint64) (router.Instance, error) {
		i, err := good.New(o, seed)
		if err == nil {
			i.(*wrong).info.Observes = []router.EventKind{router.Finished}
		}
		return i, err
	}
	greedy := routes(nil)
	greedy.New = func(o router.Options, seed uint64) (router.Instance, error) { return good.New(nil, seed) }
	return []wrongStrategy{
		{"description", "name", `name "Bad Name" must be`, unnamed, nil, nil},
		{"description", "summary", "summary must be one line", nameless, nil, nil},
		{"description", "no instance", "no fuel", silent, nil, nil},
		{"description", "observes without a method", "method Observe is there: false", shy, nil, []string{"valid"}},
		{"options", "takes all", "no-such-option=1 is taken", greedy, nil, nil},
		{"options", "refuses its default", "given in words, are refused", picky(good), nil, nil},

		{"valid", "verdict", "unknown verdict 9", routes(func(_ router.Input, d router.Decision) router.Decision { d.Verdict = 9; return d }), nil, nil},
		{"valid", "nobody", "names no worker that serves", routes(func(_ router.Input, d router.Decision) router.Decision { d.Ranking = nil; return d }), nil, nil},
		{"valid", "guard", "factor NaN", routes(func(_ router.Input, d router.Decision) router.Decision {
			d.Hold = router.Hold{TTL: time.Minute, Guard: router.Guard{Of: router.InFlight, Factor: math.NaN()}}
			return d
		}), nil, nil},
		{"valid", "reasons", "different reasons", routes(func(in router.Input, d router.Decision) router.Decision { d.Reason = in.Request.ID; return d }), nil, nil},
		{"valid", "write", "positive time", routes(func(_ router.Input, d router.Decision) router.Decision {
			d.Writes = []router.Write{{Fact: router.Fact{FactKey: router.FactKey{Family: "f"}}}}
			return d
		}), nil, nil},
		{"valid", "plan", "weight that is not finite", plans(func(_ router.PlanInput, p router.Plan) (router.Plan, error) {
			p.Rest.Cost = router.Row{{Feature: router.One, Weights: []float64{math.NaN()}}}
			return p, nil
		}), nil, nil},

		{"eligible", "ranking", "worker 9 of", routes(func(_ router.Input, d router.Decision) router.Decision { d.Ranking[0].Worker = 9; return d }), nil, []string{"order"}},
		{"eligible", "plan", "is not in the fleet", plans(func(_ router.PlanInput, p router.Plan) (router.Plan, error) {
			p.Workers = append(p.Workers, router.WorkerRef{ID: "ghost"})
			return p, nil
		}), nil, nil},
		{"distinct", "ranking", "twice", routes(func(_ router.Input, d router.Decision) router.Decision {
			d.Ranking = append(d.Ranking, d.Ranking[0])
			return d
		}), nil, nil},
		{"distinct", "plan", "key 1 twice", plans(func(_ router.PlanInput, p router.Plan) (router.Plan, error) {
			if len(p.Table.Keys) > 0 && p.Table.Keys[0] == 1 {
				p.Table.Append(1, p.Table.Of(0)...)
			}
			return p, nil
		}), nil, nil},
		{"untouched", "changes", "the input was changed", routes(func(in router.Input, d router.Decision) router.Decision { in.Workers[0].Load.InFlight++; return d }), nil, nil},
		{"untouched", "keeps", "an input was kept", define(keeper), nil, nil},
		{"deterministic", "counts over all", "the same was answered in two ways", counting(), nil, []string{"order", "untouched"}},
		{"order", "draws by place", "in another order", routes(func(in router.Input, d router.Decision) router.Decision {
			d.Ranking = []router.Placement{{Worker: int(in.Seed % uint64(len(in.Workers)))}}
			return d
		}), nil, nil},
		{"names", "reads the name", "it panicked", routes(func(in router.Input, d router.Decision) router.Decision {
			if _, ok := strings.CutPrefix(in.Workers[0].ID, "w"); !ok {
				panic("who is that?")
			}
			return d
		}), nil, nil},
		{"figures", "gauges", "missing figures, call", routes(func(in router.Input, d router.Decision) router.Decision {
			_ = []int{0}[in.Now.Sub(in.Workers[0].Load.KVUsed.At)/(1<<62)]
			return d
		}), nil, nil},
		{"figures", "one worker", "one worker, call", routes(func(in router.Input, d router.Decision) router.Decision {
			if len(in.Workers) == 1 && in.Workers[0].ID == "w00" && in.Request.ID == "request-2" {
				_ = in.Workers[1]
			}
			return d
		}), nil, nil},
		{"figures", "huge ones", "huge figures, call", routes(fails(func(in router.Input) bool { return in.Workers[0].Load.QueuedTokens > 1<<30 })), nil, nil},
		{"figures", "stale ones", "stale figures, call", routes(fails(func(in router.Input) bool { return in.Workers[0].Load.PeersAge > 24*time.Hour })), nil, nil},
		{"figures", "zeros", "zero figures, call", routes(fails(func(in router.Input) bool { return in.Now == 0 })), nil, nil},
		{"figures", "many workers", "a thousand workers, call", routes(fails(func(in router.Input) bool { return len(in.Workers) > 500 })), nil, nil},
		{"figures", "no workers", "no workers to plan for, call", plans(func(in router.PlanInput, p router.Plan) (router.Plan, error) {
			_ = in.Fleet.Workers[0]
			return p, nil
		}), nil, nil},
		{"memory", "remembers all", "its memory grows by", define(leaky), nil, nil},
		{"elsewhere", "another answer", "in another process", good, other(), nil},
	}
}

// fails panics at some inputs.
func fails(at func(router.Input) bool) func(router.Input, router.Decision) router.Decision {
	return func(in router.Input, d router.Decision) router.Decision {
		if at(in) {
			panic("what is that?")
		}
		return d
	}
}

// picky refuses what it says is its default.
func picky(good router.Definition) router.Definition {
	d := good
	d.Options = append([]router.Option{{Name: "level", Default: "7", Help: "How much."}}, d.Options...)
	return d
}

// keeper looks at the input of the call before.
func keeper() *wrong {
	var last []router.Worker
	return &wrong{route: func(in router.Input, d router.Decision) router.Decision {
		if len(last) > 0 && last[0].ID == "scribble" {
			d.Ranking = d.Ranking[len(d.Ranking)-1:]
			d.Reason = "kept"
		}
		last = in.Workers
		return d
	}}
}

// leaky remembers all requests.
func leaky() *wrong {
	seen := map[uint64]string{}
	return &wrong{route: func(in router.Input, d router.Decision) router.Decision {
		seen[in.Request.Key] = in.Request.ID
		return d
	}}
}

// counting counts the calls of all its instances.
func counting() router.Definition {
	calls := 0
	return routes(func(_ router.Input, d router.Decision) router.Decision {
		calls++
		if calls%7 == 0 {
			d.Ranking = d.Ranking[len(d.Ranking)-1:]
		}
		return d
	})
}

func other() *router.Definition {
	d := routes(func(_ router.Input, d router.Decision) router.Decision { d.Ranking = d.Ranking[:1]; return d })
	return &d
}
