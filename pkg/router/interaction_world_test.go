package router

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// reserved are the arguments of core that are no strategies.
var reserved = []string{"on", "seed", "queue", "attempts", "holds", "keys", "fetch", "alone", "wait", "life", "every"}

func (w *world) create(a arguments) {
	cfg := Config{
		Pool: "pool", Seed: uint64(a.int("seed", 1)), MaxQueue: a.int("queue", 0), MaxAttempts: a.int("attempts", 0),
		MaxHolds: a.int("holds", 0), MaxKeys: a.int("keys", 0), FetchDeadline: a.duration(a.text("fetch", "0s")),
		MaxWait: a.duration(a.text("wait", "0s")), MaxLife: a.duration(a.text("life", "0s")), PlanInterval: a.duration(a.text("every", "0s")),
		Alone: a.text("alone", "no") == "yes",
	}
	for _, arg := range a.d.CmdArgs {
		if slices.Contains(reserved, arg.Key) {
			continue
		}
		o := a.named(arg.Vals)
		info := Info{
			Name: arg.Key, Plans: o.has("plans"), Routes: o.has("routes"), Cached: o.has("cached"), Blocks: o.has("blocks"),
			Rates: o.has("rates"), Facts: o.list("facts"), Interval: a.duration(o.text("every", "0s")),
		}
		if o.has("observes") {
			info.Observes = everyKind()
		}
		cfg.Links = append(cfg.Links, Link{arg.Key, info})
	}
	core, err := New(cfg)
	if err != nil {
		w.printf("error: %v\n", err)
		return
	}
	name := a.text("on", "a")
	w.cores[name] = &driven{core, name, map[uint64]*scripted{}}
}

func (w *world) fleet(c *driven, a arguments) {
	var members []Member
	for _, arg := range a.d.CmdArgs {
		if arg.Key == "on" {
			continue
		}
		o := a.named(arg.Vals)
		m := Member{Worker: Worker{
			ID: arg.Key, Incarnation: uint64(o.int("incarnation", 0)), Concurrency: o.int("concurrency", 0), KVTokens: o.int("kv", 0),
		}, Adapters: o.list("adapter"), Down: o.has("down"), Admit: o.int("admit", 0), KVLimit: o.int("kvlimit", 0)}
		members = append(members, m)
	}
	if err := c.SetFleet(w.now, members); err != nil {
		w.printf("error: %v\n", err)
	}
}

// link is the strategy that a command names first.
func (c *driven) link(a arguments) int {
	i := slices.IndexFunc(c.cfg.Links, func(l Link) bool { return l.Name == a.words()[0] })
	if i < 0 {
		a.d.Fatalf(a.t, "no strategy %q", a.words()[0])
	}
	return i
}

// plan installs a plan, with the next version if it names none.
func (w *world) plan(c *driven, a arguments) {
	var refs []WorkerRef
	for _, m := range c.Loads(w.now) {
		refs = append(refs, WorkerRef{m.ID, m.Incarnation})
	}
	p, link := a.parsePlan(refs), c.link(a)
	p.Version = uint64(a.int("version", int(c.links[link].version)+1))
	compiled, err := Compile(p)
	if err == nil {
		err = c.Install(w.now, link, compiled)
	}
	if err != nil {
		w.printf("error: %v\n", err)
	}
}

func (w *world) due(c *driven, a arguments) {
	if name := a.text("failed", ""); name != "" {
		c.PlanFailed(w.now, slices.IndexFunc(c.cfg.Links, func(l Link) bool { return l.Name == name }))
	}
	for _, task := range c.PlansDue(w.now) {
		in := task.Input()
		w.printf("%s: version %d, fleet %d of", task.Name, task.Version, in.Fleet.Number)
		for _, worker := range in.Fleet.Workers {
			w.printf(" %s", worker.ID)
		}
		w.printf(", %.3f req/s, %.0f tokens in, %.0f out", in.TotalRate, in.PromptTokens, in.OutputTokens)
		if in.Previous != nil {
			w.printf(", previous %d aged %v", in.Previous.Version, in.PreviousAge)
		}
		w.printf("\n")
		for _, r := range in.Rates {
			w.printf("  key %d: %.4f req/s, %.0f tokens", r.Key, r.Rate, r.Tokens)
			if r.Home > 0 {
				w.printf(", at %s", in.Fleet.Workers[r.Home-1].ID)
			}
			w.printf("\n")
		}
	}
}

func (w *world) printf(format string, args ...any) { fmt.Fprintf(&w.out, format, args...) }

// printStep prints what the driver has to do next.
func (w *world) printStep(name string, c *driven, s *Step) {
	w.printf("%s ", name)
	switch s.Kind {
	case DoDispatch:
		r := &s.Receipt
		w.printf("-> %s: %s of %s", s.Worker.ID, r.Reason, r.Strategy)
		if r.Plan > 0 {
			w.printf(", plan %d aged %v", r.Plan, r.PlanAge)
		}
		if r.Attempt > 1 {
			w.printf(", attempt %d", r.Attempt)
		}
		w.printf(", of %d", r.Candidates)
		if r.Fallback != "" {
			w.printf(", after %s", r.Fallback)
		}
	case DoAsk:
		in := &s.Input
		w.printf("asks %s within %v about", c.cfg.Links[s.Link].Name, s.Deadline.Sub(w.now))
		for i, worker := range in.Workers {
			w.printf(" %s", worker.ID)
			if in.Cached != nil {
				w.printf("(%d cached)", in.Cached[i])
			}
		}
		for _, f := range in.Facts {
			w.printf(", %s = %q", f.Family, f.Value)
		}
	case DoFetch:
		w.printf("fetches")
		for _, f := range s.Facts {
			w.printf(" %s:%d", f.Family, f.Key)
		}
		w.printf(" within %v", s.Deadline.Sub(w.now))
	case DoWait:
		w.printf("waits at most %v", s.Deadline.Sub(w.now))
	case DoRefuse:
		w.printf("is refused: %v, %s", s.Refusal.Code, s.Refusal.Reason)
		if s.Refusal.RetryAfter > 0 {
			w.printf(", come back in %v", s.Refusal.RetryAfter)
		}
	}
	w.printf("\n")
}

// show prints the books of a core: workers, queue, holds, peers.
func (w *world) show(c *driven, _ arguments) {
	w.printf("at %v\n", time.Duration(w.now))
	for _, m := range c.Loads(w.now) {
		w.printf("%s: %d in flight, %d tokens queued", m.ID, m.Load.InFlight, m.Load.QueuedTokens)
		if m.Load.WorkingSet > 0 {
			w.printf(", working set %d", m.Load.WorkingSet)
		}
		if d := c.PausedFor(w.now, m.ID); d > 0 {
			w.printf(", pauses for %v", d)
		}
		if m.Down {
			w.printf(", down")
		}
		w.printf("\n")
	}
	if len(c.queue) > 0 {
		var names []string
		for _, l := range c.queue {
			names = append(names, l.req.ID)
		}
		w.printf("queue: %s\n", strings.Join(names, " "))
	}
	for i := range c.cfg.Links {
		k := &c.links[i]
		for n := k.holds.nodes[0].prev; n != 0; n = k.holds.nodes[n].prev {
			h := &k.holds.nodes[n].value
			w.printf("%s holds %d at %s for %v", k.name, k.holds.nodes[n].key, h.worker.info.ID, h.until.Sub(w.now))
			if !h.alive(w.now) {
				w.printf(", void")
			}
			w.printf("\n")
		}
	}
	for _, name := range c.Peers() {
		w.printf("peer %s aged %v\n", name, w.now.Sub(c.peers[name].at))
	}
}

func (w *world) events(c *driven, a arguments) {
	for _, e := range c.TakeEvents(c.link(a), nil) {
		w.printf("%d %s", e.Number, [...]string{"", "arrived", "dispatched", "first token", "finished", "failed", "forgotten", "up", "gone", "restarted", "cleared"}[e.Kind])
		if e.Request != "" {
			w.printf(" %s", e.Request)
		}
		if e.Key != 0 {
			w.printf(" key %d", e.Key)
		}
		if e.Worker != (WorkerRef{}) {
			w.printf(" %s/%d", e.Worker.ID, e.Worker.Incarnation)
		}
		if e.Attempt > 0 {
			w.printf(" attempt %d by %s", e.Attempt, e.By)
		}
		if e.Usage.OutputTokens > 0 {
			w.printf(" %d tokens out", e.Usage.OutputTokens)
		}
		w.printf("\n")
	}
}
