package main

import (
	"fmt"
	"time"

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

// stopwatch sums up the wall time of calls.
type stopwatch struct {
	calls      int
	total, max time.Duration
}

func (s *stopwatch) since(began time.Time) {
	d := time.Since(began)
	s.calls++
	s.total += d
	s.max = max(s.max, d)
}

// String returns the number of calls, their mean time and the longest one.
func (s *stopwatch) String() string {
	if s.calls == 0 {
		return "none"
	}
	mean := s.total / time.Duration(s.calls)
	return fmt.Sprintf("%d of %v, at most %v", s.calls, mean.Round(time.Microsecond), s.max.Round(time.Microsecond))
}
