package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

// TestScripts runs testdata/*.txt. A script is one command:
//
//	run [workers=N] [gateways=N] [chain=NAME,NAME] [timing=sessions] [concurrency=N] [context=N] [view] [show=WHAT] [OPTION=TIME]
//	row at=TIME in=N out=N [session=N] [blocks=N,N] [after=N,N] [think=TIME] [to=wN]
//	fault TEXT
//
// Workers are tenfold ones. A row with to=wN prefers that worker. The answer has a
// line for each row: gateway, worker, attempts, the times of sending, first token
// and end, how it ended, and the tokens cached and missed. show adds faults,
// decisions, or plans.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "run" {
				t.Fatalf("%s: no command %q", d.Pos, d.Cmd)
			}
			s := &script{t: t, d: d, wish: map[string]string{}}
			return s.run()
		})
	})
}

type script struct {
	t    *testing.T
	d    *datadriven.TestData
	wish map[string]string // row -> worker ID
	view bool
}

func (s *script) run() string {
	workers, gateways, concurrency, limit := 2, 1, 0, 0
	timing, chain := "recorded", ""
	s.d.MaybeScanArgs(s.t, "workers", &workers)
	s.d.MaybeScanArgs(s.t, "gateways", &gateways)
	s.d.MaybeScanArgs(s.t, "concurrency", &concurrency)
	s.d.MaybeScanArgs(s.t, "context", &limit)
	s.d.MaybeScanArgs(s.t, "timing", &timing)
	s.d.MaybeScanArgs(s.t, "chain", &chain)
	s.view = s.d.HasArg("view")
	c := Config{Seed: 1, Workers: Fleet(workers, tenfold())}
	for i := range c.Workers {
		c.Workers[i].Concurrency, c.Workers[i].Profile.MaxContext = concurrency, limit
	}
	c.Trace = s.read(&c.Options)
	var err error
	if c.Options.Timing, err = ParseTiming(timing); err != nil {
		return err.Error()
	}
	c.Options.Gateways = gateways
	for name, d := range map[string]*time.Duration{
		"detect": &c.Options.DetectDelay, "sync": &c.Options.SyncInterval, "store": &c.Options.StoreDelay,
		"scrape": &c.Options.ScrapeInterval, "plan": &c.Options.PlanDelay, "decision": &c.Options.DecisionDelay,
	} {
		if s.d.HasArg(name) {
			var text string
			s.d.ScanArgs(s.t, name, &text)
			*d = s.time(text)
		}
	}
	c.Open = func(int) ([]Link, error) { return s.chain(chain), nil }
	c.Chain = s.chain(chain)
	r, err := Run(context.Background(), c)
	if err != nil {
		return err.Error()
	}
	return s.answer(r)
}

func (s *script) chain(names string) []Link {
	links := []Link{{"wish", s.wisher()}}
	for _, name := range strings.Split(names, ",") {
		if name == "" {
			continue
		}
		def, err := strategies.Find(name)
		if err != nil {
			s.t.Fatal(err)
		}
		instance, err := def.New(nil, 1)
		if err != nil {
			s.t.Fatal(err)
		}
		links = append(links, Link{name, instance})
	}
	return links
}

// wisher routes rows with a wish there, and then to the others in order.
func (s *script) wisher() *custom {
	return &custom{info: router.Info{Routes: true, Cached: s.view}, route: func(in router.Input) router.Decision {
		want, ok := s.wish[in.Request.ID]
		if !ok {
			return router.Decision{}
		}
		d := router.Decision{Verdict: router.Route, Reason: "wish"}
		for i := range in.Workers {
			d.Ranking = append(d.Ranking, router.Placement{Worker: i})
		}
		slices.SortStableFunc(d.Ranking, func(a, b router.Placement) int {
			return strings.Compare(strconv.FormatBool(in.Workers[b.Worker].ID == want), strconv.FormatBool(in.Workers[a.Worker].ID == want))
		})
		return d
	}}
}

func (s *script) read(o *Options) *trace.Trace {
	var rows []trace.Request
	for _, line := range strings.Split(s.d.Input, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "":
		case "fault":
			f, err := ParseFault(rest)
			if err != nil {
				s.t.Fatal(err)
			}
			o.Faults = append(o.Faults, f)
		case "row":
			rows = append(rows, s.row(strconv.Itoa(len(rows)), rest))
		default:
			s.t.Fatalf("%s: no line %q", s.d.Pos, line)
		}
	}
	return traffic(rows...)
}

func (s *script) row(name, text string) trace.Request {
	var r trace.Request
	for _, field := range strings.Fields(text) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "at":
			r.At = s.time(value)
		case "think":
			r.Think = s.time(value)
		case "in":
			r.Input = s.number(value)
		case "out":
			r.Output = s.number(value)
		case "session":
			r.Session = uint64(s.number(value))
		case "to":
			s.wish[name] = "worker-" + value[1:]
		case "blocks":
			for _, b := range strings.Split(value, ",") {
				r.Blocks = append(r.Blocks, uint64(s.number(b)))
			}
		case "after":
			for _, b := range strings.Split(value, ",") {
				r.After = append(r.After, int32(s.number(b)))
			}
		default:
			s.t.Fatalf("%s: no field %q", s.d.Pos, field)
		}
	}
	return r
}

func (s *script) time(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *script) answer(r *measure.Run) string {
	var b strings.Builder
	for i := range r.Requests {
		q := &r.Requests[i]
		fmt.Fprintf(&b, "%d: g%d ", i, q.Gateway)
		if q.Worker >= 0 {
			fmt.Fprintf(&b, "w%d ", q.Worker)
		}
		fmt.Fprintf(&b, "x%d, %v", q.Attempts, q.Arrived)
		if q.First > 0 {
			fmt.Fprintf(&b, " %v", q.First)
		}
		fmt.Fprintf(&b, " %v %v", q.Ended, q.Outcome)
		for _, m := range []struct {
			name string
			n    int32
		}{{"cached", q.Cached}, {"compulsory", q.Compulsory}, {"evicted", q.Evicted}, {"elsewhere", q.Elsewhere}, {"stale", q.Stale}} {
			if m.n > 0 {
				fmt.Fprintf(&b, ", %d %s", m.n, m.name)
			}
		}
		b.WriteByte('\n')
	}
	show := ""
	s.d.MaybeScanArgs(s.t, "show", &show)
	switch show {
	case "faults":
		for _, f := range r.Faults {
			fmt.Fprintf(&b, "%v %s over=%v\n", f.At, f.Text, f.Over)
		}
	case "decisions":
		for _, d := range r.Decisions {
			fmt.Fprintf(&b, "%s %s %q: %d\n", d.Strategy, d.Reason, d.Fallback, d.Count)
		}
	case "plans":
		for _, p := range r.Strategies {
			fmt.Fprintf(&b, "%s: %d plans, %d failed %s\n", p.Name, p.Plans, p.Failed, p.FirstError)
		}
	}
	return b.String()
}
