package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"gatewayd/benchlab/report"
)

// timing collects wall-clock figures; it may be used by several goroutines.
type timing struct {
	began time.Time

	mutex      sync.Mutex
	contenders []contenderTiming
	requests   int
}

type contenderTiming struct {
	took     time.Duration
	requests int
	order    []string
	routes   map[string]*stopwatch
	plans    map[string]*stopwatch
}

func newTiming(contenders int) *timing {
	t := &timing{began: time.Now(), contenders: make([]contenderTiming, contenders)}
	for i := range t.contenders {
		t.contenders[i].routes, t.contenders[i].plans = map[string]*stopwatch{}, map[string]*stopwatch{}
	}
	return t
}

// add adds a run of contender i.
func (t *timing) add(i int, o *outcome) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	c := &t.contenders[i]
	c.took += o.took
	c.requests += o.requests
	t.requests += o.requests
	for _, w := range o.clocks {
		if c.routes[w.name] == nil {
			c.order = append(c.order, w.name)
			c.routes[w.name], c.plans[w.name] = &stopwatch{}, &stopwatch{}
		}
		c.routes[w.name].join(&w.routes)
		c.plans[w.name].join(&w.plans)
	}
}

// report is the timing until now.
func (t *timing) report(s *study) *report.Timing {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	out := &report.Timing{Seconds: time.Since(t.began).Seconds(), Requests: t.requests, Processors: runtime.GOMAXPROCS(0)}
	for i := range t.contenders {
		c := &t.contenders[i]
		r := report.ContenderTime{Name: s.contenders[i].name, Seconds: c.took.Seconds()}
		if c.requests > 0 {
			r.PerRequest = c.took.Seconds() / float64(c.requests)
		}
		for _, name := range c.order {
			for _, x := range []struct {
				call  string
				watch *stopwatch
			}{{"route", c.routes[name]}, {"plan", c.plans[name]}} {
				if x.watch.calls > 0 {
					r.Calls = append(r.Calls, x.watch.time(name, x.call))
				}
			}
		}
		out.Contenders = append(out.Contenders, r)
	}
	return out
}

// print prints wall-clock figures.
func (p program) print(t *report.Timing) {
	for _, c := range t.Contenders {
		fmt.Fprintf(p.stderr, "%s: %.2f s, %.0f requests/s\n", c.Name, c.Seconds, 1/c.PerRequest)
		for _, k := range c.Calls {
			fmt.Fprintf(p.stderr, "  %s: %s, mean %v, p99 %v, at most %v\n",
				k.Strategy, plural(k.Count, k.Call+" call"), short(k.Mean), short(k.P99), short(k.Max))
		}
	}
	fmt.Fprintf(p.stderr, "%s, %d requests: %.2f s on %s\n",
		plural(len(t.Contenders), "contender"), t.Requests, t.Seconds, plural(t.Processors, "processor"))
}

func short(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Nanosecond)
}

// plural writes a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
