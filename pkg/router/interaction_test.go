package router

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestInteraction runs the scripts in testdata: commands to one or more cores,
// in typed time, with what comes of them as text. on=NAME says which core, "a"
// if it is left out; a request is r1, r2 and so on, the newest if it is left out.
//
//	core      NAME=(plans,routes,cached,blocks,rates,facts=F,observes,every=D) of each
//	          strategy; queue=, attempts=, holds=, fetch=, alone=yes, keys=, wait=, life=
//	fleet     ID=(incarnation=N,concurrency=N,admit=N,kv=N,kvlimit=N,adapter=A,down) of
//	          each worker
//	plan      STRATEGY version=N table=(KEY:W+W,...) guard=(OF,FACTOR,SLACK)
//	          bind=TTL keep cached=SHARE rest=ORDER cost=(FEATURE:WEIGHT/WEIGHT,...)
//	          limit=(...) bound=N sample=N among=(W,...) first
//	due       the plans that are due; failed=STRATEGY ends one without a plan
//	arrive    key= tokens= max= priority= adapter= prompt=(SEGMENT*BLOCKS,...) n=
//	answer    [REQUEST] pass|wait|refuse|missed|route=(W,...) hold=D reason=S after=D guard=
//	fetched   [REQUEST] what the store has, or nothing
//	pause     [REQUEST] asked=D
//	first, retry, timeout, dispatched [REQUEST] to=ID
//	finish    [REQUEST] output=N failed cancelled; all of them with "all"
//	tick      D lets time pass
//	down, up  STRATEGY says that its process is away, or back
//	load      ID kv=SHARE; clear ID; forget key=N
//	export    to=NAME gives a core's figures to another one; drop peer=NAME
//	events    STRATEGY prints what it observed
//	show      prints the books
func TestInteraction(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		w := &world{cores: map[string]*driven{}, store: map[FactKey]stored{}, requests: map[string]*scripted{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return w.run(t, d)
		})
	})
}

// world is some cores, what they share, and the requests under way.
type world struct {
	t        *testing.T
	now      Time
	cores    map[string]*driven
	store    map[FactKey]stored
	requests map[string]*scripted
	begun    int
	out      strings.Builder
}

type driven struct {
	*Core
	name    string
	waiting map[uint64]*scripted
}

type stored struct {
	value []byte
	until Time
}

// scripted is a request as its driver sees it.
type scripted struct {
	name string
	core *driven
	step Step
}

func (w *world) run(t *testing.T, d *datadriven.TestData) string {
	w.t = t
	w.out.Reset()
	a := arguments{t, d}
	if d.Cmd == "core" {
		w.create(a)
		return w.out.String()
	}
	c := w.cores[a.text("on", "a")]
	if c == nil {
		d.Fatalf(t, "there is no such core")
	}
	if command := commands[d.Cmd]; command != nil {
		command(w, c, a)
	} else {
		step, ok := onRequest[d.Cmd]
		if !ok {
			d.Fatalf(t, "unknown command")
		}
		r := w.request(a)
		w.take(r, step(w, r, a))
	}
	for _, name := range slices.Sorted(maps.Keys(w.cores)) {
		w.wake(w.cores[name])
		w.shared(w.cores[name])
	}
	return w.out.String()
}

// commands are those to a core.
var commands = map[string]func(*world, *driven, arguments){
	"fleet":  (*world).fleet,
	"plan":   (*world).plan,
	"due":    (*world).due,
	"arrive": (*world).arrive,
	"finish": (*world).finish,
	"show":   (*world).show,
	"events": (*world).events,
	"tick": func(w *world, _ *driven, a arguments) {
		w.now = w.now.Add(a.duration(a.words()[0]))
		for _, name := range slices.Sorted(maps.Keys(w.cores)) {
			if n := w.cores[name].Tick(w.now); n > 0 {
				w.printf("%d lives expired\n", n)
			}
		}
	},
	"down": func(w *world, c *driven, a arguments) { c.SetDown(c.link(a), true) },
	"up":   func(w *world, c *driven, a arguments) { c.SetDown(c.link(a), false) },
	"load": func(w *world, c *driven, a arguments) {
		c.SetLoad(a.words()[0], Unknown, Unknown, Gauge{a.float("kv", 0), w.now})
	},
	"clear":  func(w *world, c *driven, a arguments) { c.ClearCache(w.now, a.words()[0]) },
	"forget": func(w *world, c *driven, a arguments) { c.Forget(w.now, uint64(a.int("key", 0))) },
	"export": func(w *world, c *driven, a arguments) {
		var s Snapshot
		b, err := c.Export(w.now, 0)().MarshalBinary()
		if err == nil {
			err = s.UnmarshalBinary(b)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		w.cores[a.text("to", "")].Import(w.now, c.name, s)
	},
	"drop": func(w *world, c *driven, a arguments) { c.DropPeer(a.text("peer", "")) },
}

// onRequest are those to a request.
var onRequest = map[string]func(*world, *scripted, arguments) Step{
	"answer": (*world).answer,
	"fetched": func(w *world, r *scripted, a arguments) Step {
		var facts []Fact
		for _, key := range r.step.Facts {
			if s, ok := w.store[key]; ok && s.until > w.now && !slices.Contains(a.words(), "nothing") {
				facts = append(facts, Fact{key, s.value})
			}
		}
		return r.core.Fetched(w.now, r.step.Ticket, facts)
	},
	"timeout": func(w *world, r *scripted, _ arguments) Step { return r.core.Timeout(w.now, r.step.Ticket) },
	"retry":   func(w *world, r *scripted, _ arguments) Step { return r.core.Retry(w.now, r.step.Ticket) },
	"pause": func(w *world, r *scripted, a arguments) Step {
		r.core.Pause(w.now, r.step.Ticket, a.duration(a.text("asked", "0s")))
		return Step{}
	},
	"first": func(w *world, r *scripted, _ arguments) Step {
		r.core.FirstToken(w.now, r.step.Ticket)
		return Step{}
	},
	"dispatched": func(w *world, r *scripted, a arguments) Step {
		r.core.Dispatched(w.now, r.step.Ticket, a.text("to", ""))
		return Step{}
	},
}

// request finds the one that the command names, or the newest.
func (w *world) request(a arguments) *scripted {
	name := fmt.Sprint("r", w.begun)
	if words := a.words(); len(words) > 0 && w.requests[words[0]] != nil {
		name = words[0]
	}
	r := w.requests[name]
	if r == nil {
		a.d.Fatalf(w.t, "there is no request %s", name)
	}
	return r
}

// take files a step, if there is one, and prints it.
func (w *world) take(r *scripted, s Step) {
	if s.Kind == DoNothing {
		return
	}
	r.step = s
	w.printStep(r.name, r.core, &s)
	if s.Kind == DoWait {
		r.core.waiting[s.Ticket.ID] = r
	}
}

func (w *world) wake(c *driven) {
	for {
		s, ok := c.Wake(w.now)
		if !ok {
			return
		}
		w.printf("woken: ")
		w.take(c.waiting[s.Ticket.ID], s)
	}
}

// shared stores what a core wrote.
func (w *world) shared(c *driven) {
	for _, f := range c.TakeWrites(nil) {
		w.store[f.FactKey] = stored{f.Value, w.now.Add(f.TTL)}
		ref, ok := decodeRef(f.Value)
		text := ref.ID
		if !ok {
			text = fmt.Sprintf("%q", f.Value)
		}
		w.printf("%s writes %s:%d = %s for %v\n", c.name, f.Family, f.Key, text, f.TTL)
	}
}

func (w *world) arrive(c *driven, a arguments) {
	for range a.int("n", 1) {
		w.begun++
		r := &scripted{name: fmt.Sprint("r", w.begun), core: c}
		w.requests[r.name] = r
		req := Request{
			ID: r.name, Key: uint64(a.int("key", 0)), MaxTokens: a.int("max", 0),
			Priority: a.int("priority", 0), Adapter: a.text("adapter", ""),
			Blocks: a.blocks(), BlockTokens: scriptBlock,
		}
		req.PromptTokens = a.int("tokens", len(req.Blocks)*scriptBlock)
		w.take(r, c.Arrive(w.now, req))
	}
}

func (w *world) answer(r *scripted, a arguments) Step {
	d := Decision{Reason: a.text("reason", ""), RetryAfter: a.duration(a.text("after", "0s")), Hold: Hold{TTL: a.duration(a.text("hold", "0s")), Guard: a.guard()}}
	for _, id := range a.list("route") {
		d.Verdict = Route
		d.Ranking = append(d.Ranking, Placement{Worker: slices.IndexFunc(r.step.Input.Workers, func(w Worker) bool { return w.ID == id })})
	}
	ok := true
	for _, word := range a.words() {
		switch word {
		case "wait":
			d.Verdict = Wait
		case "refuse":
			d.Verdict = Refuse
		case "missed":
			ok = false
		}
	}
	for _, note := range a.list("writes") {
		key := FactKey{note, r.step.Input.Request.Key}
		d.Writes = append(d.Writes, Write{Fact{key, []byte(r.name)}, time.Minute})
	}
	return r.core.Answer(w.now, r.step.Ticket, d, ok)
}

// finish ends one request, or all.
func (w *world) finish(_ *driven, a arguments) {
	ending := Ending{Outcome: Completed, Usage: Usage{OutputTokens: a.int("output", 0)}}
	all := []*scripted{}
	for _, word := range a.words() {
		switch word {
		case "failed":
			ending.Outcome = Failed
		case "cancelled":
			ending.Outcome = Cancelled
		case "all":
			for i := range w.begun {
				all = append(all, w.requests[fmt.Sprint("r", i+1)])
			}
		}
	}
	if len(all) == 0 {
		all = append(all, w.request(a))
	}
	for _, r := range all {
		r.core.Finish(w.now, r.step.Ticket, ending)
	}
}
