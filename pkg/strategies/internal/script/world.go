package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"gatewayd/pkg/router"
)

// world is a core with its strategies and the requests that are under way.
type world struct {
	definitions []router.Definition
	core        *router.Core
	instances   []router.Instance
	links       []router.Link
	planned     router.PlanInput // of the last plan
	ended       bool             // a request has
	now         router.Time
	open        []request
	blocks      uint64
}

// request is one that is under way.
type request struct {
	ticket router.Ticket
	worker string
}

func (w *world) chain(specs [][]string) (string, error) {
	var out strings.Builder
	var links []router.Link
	w.instances, w.open = nil, nil
	for _, spec := range specs {
		d, err := w.find(spec[0])
		if err != nil {
			return "", err
		}
		instance, err := d.New(options(spec[1:]), 1)
		if err != nil {
			return "", err
		}
		w.instances = append(w.instances, instance)
		links = append(links, router.Link{Name: d.Name, Info: instance.Info()})
		out.WriteString(info(instance.Info()))
	}
	core, err := router.New(router.Config{Pool: "pool", Seed: 1, Links: links})
	w.links = links
	w.core = core
	return out.String(), err
}

func (w *world) fleet(t *testing.T, specs [][]string) error {
	var members []router.Member
	for _, spec := range specs {
		o := options(spec[1:])
		figure := func(name string) float64 {
			if o[name] == "" {
				return 0
			}
			return parse(t, o[name])
		}
		m := router.Member{Worker: router.Worker{
			ID: spec[0], Zone: o["zone"], Incarnation: uint64(figure("incarnation")),
			Concurrency: int(figure("concurrency")), KVTokens: int(figure("kv")),
			Energy: router.Energy{
				PrefillJoules: figure("prefill"), DecodeJoules: figure("decode"),
				WakeWatts: figure("wake"), PUE: figure("pue"),
			},
			Carbon: router.Carbon{GramsPerKWh: router.Unknown, Marginal: slices.Contains(spec, "marginal")},
		}, Down: slices.Contains(spec, "down")}
		if o["grams"] != "" {
			m.Carbon.GramsPerKWh = router.Gauge{Value: figure("grams"), At: w.now}
		}
		for name, g := range map[string]*router.Gauge{"running": &m.Load.Running, "waiting": &m.Load.Waiting, "kvused": &m.Load.KVUsed} {
			if *g = router.Unknown; o[name] != "" {
				*g = router.Gauge{Value: figure(name), At: w.now}
			}
		}
		if o["age"] != "" {
			m.Carbon.GramsPerKWh.At = w.now.Add(-duration(t, o["age"]))
		}
		members = append(members, m)
	}
	return w.core.SetFleet(w.now, members)
}

// plan makes the plans that are due and installs them.
func (w *world) plan() (string, error) {
	var out strings.Builder
	for _, task := range w.core.PlansDue(w.now) {
		w.planned = task.Input()
		plan, err := w.instances[task.Link].(router.Planner).Plan(w.planned)
		if err != nil {
			return "", err
		}
		plan.Version = task.Version
		compiled, err := router.Compile(&plan)
		if err != nil {
			return "", err
		}
		if err := w.core.Install(w.now, task.Link, compiled); err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s:\n%s", task.Name, show(plan))
	}
	return out.String(), nil
}

func (w *world) send(t *testing.T, d *datadriven.TestData) (string, error) {
	n, prompt := int(number(t, d, "n", 1)), int(number(t, d, "prompt", 100))
	key, step := uint64(number(t, d, "key", 1)), uint64(number(t, d, "step", 0))
	counts, each := map[string]int{}, []string{}
	for i := range uint64(n) {
		r := router.Request{
			Key: key + step*i, PromptTokens: prompt, MaxTokens: int(number(t, d, "max", 0)),
			Blocks: w.prompt(uint64(number(t, d, "block", 0)), prompt), BlockTokens: 10,
		}
		at, err := w.take(w.core.Arrive(w.now, r))
		if err != nil {
			return "", err
		}
		each = append(each, at)
		counts[at]++
	}
	if !d.HasArg("count") {
		return strings.Join(each, "\n") + "\n", nil
	}
	var out strings.Builder
	for _, at := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&out, "%s: %d\n", at, counts[at])
	}
	return out.String(), nil
}

// prompt returns the blocks of a prompt that begins with the given one; each
// prompt that begins with 0 is new.
func (w *world) prompt(first uint64, tokens int) []uint64 {
	if first == 0 {
		w.blocks++
		first = 1<<32 + w.blocks
	}
	blocks := make([]uint64, tokens/10)
	for i := range blocks {
		blocks[i] = router.Mix(first<<16 + uint64(i))
	}
	return blocks
}

func (w *world) retry(t *testing.T) (string, error) {
	if len(w.open) == 0 {
		t.Fatal("no request is open")
	}
	last := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	at, err := w.take(w.core.Retry(w.now, last.ticket))
	return at + "\n", err
}

// take asks strategies as the step says and reads where it sends a request.
func (w *world) take(s router.Step) (string, error) {
	for w.observe(); s.Kind == router.DoAsk; w.observe() {
		d := w.instances[s.Link].(router.Strategy).Route(s.Input)
		s = w.core.Answer(w.now, s.Ticket, d, true)
	}
	switch s.Kind {
	case router.DoDispatch:
		w.open = append(w.open, request{s.Ticket, s.Worker.ID})
		return fmt.Sprintf("%s by %s %s", s.Worker.ID, s.Receipt.Strategy, s.Receipt.Reason), nil
	case router.DoRefuse:
		return "refused: " + s.Refusal.Code.String(), nil
	case router.DoWait:
		return "waits", nil
	}
	return "", fmt.Errorf("unexpected step %d", s.Kind)
}

// observe hands events to the strategies that want them.
func (w *world) observe() {
	for i, instance := range w.instances {
		if events := w.core.TakeEvents(i, nil); len(events) > 0 {
			instance.(router.Observer).Observe(events)
		}
	}
}

// holds writes how many keys each strategy holds.
func (w *world) holds() string {
	var out strings.Builder
	for i, l := range w.links {
		fmt.Fprintf(&out, "%s: %d\n", l.Name, w.core.Holds(i))
	}
	return out.String()
}

// finish ends the open requests at a worker, or all of them if it is "".
func (w *world) finish(at string, output int) string {
	n := len(w.open)
	w.open = slices.DeleteFunc(w.open, func(r request) bool {
		if at != "" && r.worker != at {
			return false
		}
		w.core.Finish(w.now, r.ticket, router.Ending{Outcome: router.Completed, Usage: router.Usage{OutputTokens: output}})
		return true
	})
	w.observe()
	return fmt.Sprintf("%d finished\n", n-len(w.open))
}
