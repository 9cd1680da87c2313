package calibrate

import (
	"fmt"
	"slices"
	"time"

	"gatewayd/benchlab/engine"
)

// Prepared returns the profile with the run's own engine arguments, and with room
// for every token of the run if the KV capacity is unknown.
func Prepared(run *Run, p engine.Profile) engine.Profile {
	if run.MaxSeqs > 0 {
		p.MaxSeqs = run.MaxSeqs
	}
	if run.MaxBatchedTokens > 0 {
		p.MaxBatchedTokens = run.MaxBatchedTokens
	}
	if run.BlockTokens > 0 {
		p.BlockTokens = run.BlockTokens
	}
	if p.KVBlocks == 0 {
		size := max(1, p.BlockTokens)
		for _, r := range run.Requests {
			p.KVBlocks = min(p.KVBlocks+(r.Prompt+r.Output)/size+1, 1<<24)
		}
	}
	return p
}

// Replay puts the run's requests through an engine with the prepared profile, each
// at its recorded time of queueing, and returns when each one was served.
func Replay(run *Run, p engine.Profile) ([]Served, error) {
	e, err := engine.New(Prepared(run, p))
	if err != nil {
		return nil, err
	}
	order := make([]int, len(run.Requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(min(1, max(-1, run.Requests[a].Queued-run.Requests[b].Queued)))
	})
	served := make([]Served, len(run.Requests))
	now, left := time.Duration(0), len(run.Requests)
	for left > 0 {
		for len(order) > 0 && run.Requests[order[0]].Queued <= now {
			if err := submit(e, now, order[0], &run.Requests[order[0]]); err != nil {
				return nil, err
			}
			served[order[0]].Queued = run.Requests[order[0]].Queued
			order = order[1:]
		}
		until := engine.Forever
		if len(order) > 0 {
			until = run.Requests[order[0]].Queued
		}
		end, busy := e.Start(now, until)
		switch {
		case !busy && len(order) == 0:
			return nil, fmt.Errorf("run %s: the engine stands still with %d requests left", run.Name, left)
		case !busy:
			now = until
			continue
		}
		now = end
		for _, event := range e.Finish(now) {
			if event.Kind == engine.FirstToken {
				served[event.ID].FirstToken = now
				continue
			}
			served[event.ID].LastToken = now
			left--
		}
	}
	return served, nil
}

func submit(e *engine.Engine, now time.Duration, id int, r *Request) error {
	err := e.Submit(now, engine.Request{
		ID: uint64(id), PromptTokens: r.Prompt, OutputTokens: r.Output,
		Blocks: r.Blocks, OutputBlocks: r.OutputBlocks,
	})
	if err != nil {
		return fmt.Errorf("replaying request %q: %w", r.ID, err)
	}
	return nil
}
