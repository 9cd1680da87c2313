package main

import (
	"math"
	"time"

	"gatewayd/benchlab/report"
	"gatewayd/pkg/router"
)

// watched is an instance under a stopwatch, for one goroutine. It offers all
// methods; sim.Check has seen that those which are called are there.
type watched struct {
	router.Instance
	name          string
	routes, plans stopwatch
}

// Route decides one request.
func (w *watched) Route(in router.Input) router.Decision {
	defer w.routes.since(time.Now())
	return w.Instance.(router.Strategy).Route(in)
}

// Plan makes a plan.
func (w *watched) Plan(in router.PlanInput) (router.Plan, error) {
	defer w.plans.since(time.Now())
	return w.Instance.(router.Planner).Plan(in)
}

// Observe reports events.
func (w *watched) Observe(events []router.Event) { w.Instance.(router.Observer).Observe(events) }

// stopwatch sums up the wall time of calls, and counts them by their length in
// buckets that are 9 % apart.
type stopwatch struct {
	calls      int
	total, max time.Duration
	buckets    [octaves * perOctave]int
}

const (
	octaves   = 40 // from 1 ns to 18 min
	perOctave = 8
)

func (s *stopwatch) since(began time.Time) { s.add(time.Since(began)) }

func (s *stopwatch) add(d time.Duration) {
	s.calls++
	s.total += d
	s.max = max(s.max, d)
	at := int(math.Ceil(math.Log2(float64(max(1, d))) * perOctave))
	s.buckets[min(at, len(s.buckets)-1)]++
}

// join adds what another stopwatch has seen.
func (s *stopwatch) join(o *stopwatch) {
	s.calls += o.calls
	s.total += o.total
	s.max = max(s.max, o.max)
	for i, n := range o.buckets {
		s.buckets[i] += n
	}
}

// p99 is the upper end of the bucket that the 99th percentile lies in.
func (s *stopwatch) p99() time.Duration {
	rank, seen := (s.calls*99+99)/100, 0
	for i, n := range s.buckets {
		if seen += n; seen >= rank {
			return min(s.max, time.Duration(math.Exp2(float64(i)/perOctave)))
		}
	}
	return s.max
}

// time is what a report says of the calls.
func (s *stopwatch) time(strategy, call string) report.CallTime {
	t := report.CallTime{Strategy: strategy, Call: call, Count: s.calls, P99: s.p99().Seconds(), Max: s.max.Seconds()}
	if s.calls > 0 {
		t.Mean = (s.total / time.Duration(s.calls)).Seconds()
	}
	return t
}
