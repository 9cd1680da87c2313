package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"gatewayd/pkg/router"
)

// Definition says how the strategy is named, described and made.
func Definition() router.Definition {
	return router.Definition{
		Name: "least-work", Version: "1.0.0",
		Summary: "The worker with the least prompt work to do before this request's first token.",
		Options: []router.Option{
			{Name: "queue", Default: "1", Help: "weight of the prompt tokens that wait at the worker, 0 or more"},
		},
		New: open,
	}
}

// open makes an instance. It refuses options that it does not know, by name.
func open(o router.Options, _ uint64) (router.Instance, error) {
	s := &strategy{queue: 1}
	for name, value := range o {
		v, err := strconv.ParseFloat(value, 64)
		if name != "queue" || err != nil || !(v >= 0 && v <= 1000) {
			return nil, fmt.Errorf("option %s=%s: there is queue, from 0 to 1000", name, value)
		}
		s.queue = v
	}
	return s, nil
}

// strategy ranks workers by the prompt tokens to compute before a request's
// first token comes: those that wait there, and those of the request itself that
// are not in the worker's prefix cache.
type strategy struct{ queue float64 }

// Info asks to be called for every request, with the prefix index.
func (s *strategy) Info() router.Info {
	return router.Info{Name: "least-work", Version: "1.0.0", Routes: true, Cached: true}
}

// Route decides one request from its input alone: no clock, no randomness of its
// own, no worker that it was not shown.
func (s *strategy) Route(in router.Input) router.Decision {
	ranking := make([]router.Placement, len(in.Workers))
	for i := range ranking {
		ranking[i].Worker = i
	}
	slices.SortFunc(ranking, func(a, b router.Placement) int {
		return cmp.Or(
			cmp.Compare(s.work(in, a.Worker), s.work(in, b.Worker)),
			// Equals are ordered by the request, so that an idle fleet is used evenly.
			cmp.Compare(draw(in, a.Worker), draw(in, b.Worker)))
	})
	return router.Decision{Verdict: router.Route, Ranking: ranking, Reason: "least work"}
}

// work is in prompt tokens.
func (s *strategy) work(in router.Input, worker int) float64 {
	uncached := in.Request.PromptTokens - in.Cached[worker]
	return s.queue*float64(in.Workers[worker].Load.QueuedTokens) + float64(uncached)
}

func draw(in router.Input, worker int) uint64 {
	return router.Rendezvous(in.Seed, router.HashID(in.Workers[worker].ID))
}
