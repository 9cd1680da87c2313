package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// action is one thing that a random workload does at a time.
type action struct {
	at     time.Duration
	submit Request
	cancel uint64
	flush  bool
	slow   float64
	look   bool // only reads the statistics
}

// workload is a random mix of conversations that share prefixes, on a small
// cache, with cancellations, flushes and slow phases.
func workload(r *rand.Rand, requests int) (actions []action) {
	now := time.Duration(0)
	for id := uint64(1); id <= uint64(requests); id++ {
		if r.IntN(3) > 0 {
			now += time.Duration(r.IntN(120_000)) * time.Microsecond
		}
		q := Request{ID: id, PromptTokens: 1 + r.IntN(60), OutputTokens: r.IntN(40)}
		family := r.Uint64N(6) * 1000
		for i := range q.PromptTokens/4 + r.IntN(2) - 1 {
			q.Blocks = append(q.Blocks, family+uint64(i))
		}
		if r.IntN(2) == 0 {
			for i := range r.IntN(10) {
				q.OutputBlocks = append(q.OutputBlocks, family+uint64(q.PromptTokens/4+i))
			}
		}
		actions = append(actions, action{at: now, submit: q})
		if r.IntN(3) > 0 {
			now += time.Duration(r.IntN(60_000)) * time.Microsecond
		}
		switch r.IntN(8) {
		case 0:
			actions = append(actions, action{at: now, cancel: max(1, id-r.Uint64N(4))})
		case 1:
			actions = append(actions, action{at: now, flush: true})
		case 2:
			actions = append(actions, action{at: now, slow: 0.5 + r.Float64()})
		default:
			actions = append(actions, action{at: now, look: true})
		}
	}
	return actions
}

// drive plays a workload and returns everything that can be seen of it. Runs
// are as long as the engine likes if macro, else single steps.
func drive(t *testing.T, actions []action, macro bool) (seen []string, stats Stats) {
	t.Helper()
	e, err := New(Profile{
		Name: "law", WeightsMS: 3.3, TokenUS: 210, DecodeMS: 0.11, DecodeSeqMS: 0.013, DecodeKctxMS: 1.7, QuadUS: 9.1,
		OverheadMS: Known(0.31), OverheadSeqMS: Known(0.07), BlockTokens: 4, KVBlocks: 40, MaxBatchedTokens: 32, MaxSeqs: 6,
		Power: power(100, 50, 7),
	})
	if err != nil {
		t.Fatal(err)
	}
	endings := map[uint64]int{}
	submitted := 0
	finish := func(end time.Duration) {
		events := e.Finish(end)
		checkLaws(t, e)
		for _, v := range events {
			seen = append(seen, fmt.Sprint(end, v))
			if v.Kind == Finished {
				endings[v.ID]++
			}
		}
	}
	now := time.Duration(0)
	begin := func() {
		horizon := now
		if macro {
			horizon = Forever
		}
		e.Start(now, horizon)
		checkLaws(t, e)
	}
	for _, a := range actions {
		for {
			end, busy := e.End()
			if !busy || end >= a.at { // actions come before a step that ends with them
				break
			}
			now = end
			finish(end)
			begin()
		}
		now = a.at
		switch {
		case a.look:
			seen = append(seen, fmt.Sprint(now, e.Stats(now)))
		case a.flush:
			e.Flush(now)
		case a.slow > 0:
			e.Slow(now, a.slow)
		case a.cancel > 0:
			if e.Cancel(now, a.cancel) {
				endings[a.cancel]++
			}
		default:
			submitted++
			if err := e.Submit(now, a.submit); err != nil {
				endings[a.submit.ID]++
				seen = append(seen, err.Error())
			}
		}
		checkLaws(t, e)
		begin()
	}
	for end, busy := e.End(); busy; end, busy = e.End() {
		now = end
		finish(end)
		begin()
	}
	for id := range uint64(submitted) {
		if endings[id+1] != 1 {
			t.Errorf("request %d ended %d times", id+1, endings[id+1])
		}
	}
	stats = e.Stats(now)
	if stats.Running != 0 || stats.Waiting != 0 || stats.UsedBlocks != 0 || len(e.byID) != 0 {
		t.Errorf("not idle at the end: %+v, %d requests known", stats, len(e.byID))
	}
	return seen, stats
}

// checkLaws holds at every moment: blocks are conserved, references equal what
// the running sequences hold, and the limits of a step are kept.
func checkLaws(t *testing.T, e *Engine) {
	t.Helper()
	var held []*holding
	for _, s := range e.running {
		held = append(held, &s.holding)
		if room := s.held*e.profile.BlockTokens - s.computed - s.chunk; room < 0 {
			t.Fatalf("request %d lacks room for %d tokens", s.ID, -room)
		}
	}
	checkPool(t, e.pool, held)
	if e.load.PrefillTokens+e.load.Decoding > e.profile.MaxBatchedTokens || len(e.running) > e.profile.MaxSeqs {
		t.Fatalf("step of %+v over %d sequences exceeds its limits", e.load, len(e.running))
	}
}

// TestLaws also holds that runs of many steps give what single steps give, and
// that equal inputs give equal results.
func TestLaws(t *testing.T) {
	preemptions, hits := int64(0), int64(0)
	for seed := range uint64(12) {
		actions := workload(rand.New(rand.NewPCG(seed, 5)), 120)
		single, stats := drive(t, actions, false)
		again, _ := drive(t, actions, false)
		macro, macroStats := drive(t, actions, true)
		if !reflect.DeepEqual(single, again) {
			t.Fatalf("seed %d: two equal runs differ", seed)
		}
		for i := range min(len(single), len(macro)) {
			if single[i] != macro[i] {
				t.Fatalf("seed %d, line %d:\nsingle %s\n macro %s", seed, i, single[i], macro[i])
			}
		}
		if len(single) != len(macro) || stats != macroStats {
			t.Fatalf("seed %d: single %+v, macro %+v", seed, stats, macroStats)
		}
		preemptions += stats.Preemptions
		hits += stats.HitTokens
	}
	if preemptions < 50 || hits < 1000 {
		t.Fatalf("the workloads test too little: %d preemptions, %d hit tokens", preemptions, hits)
	}
}

// TestRepeatedIDs holds that a request whose ids repeat, which chained ones never
// do, breaks no law.
func TestRepeatedIDs(t *testing.T) {
	hits := int64(0)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 6))
		actions := workload(r, 80)
		for i := range actions {
			q := &actions[i].submit
			for k, again := range r.Perm(len(q.Blocks)) {
				if i%3 > 0 { // the others are as they should be
					q.Blocks[k] = q.Blocks[0] + uint64(max(0, k-again%3))
				}
			}
			if r.IntN(2) == 0 {
				q.BlockTokens = 8
				q.Blocks = q.Blocks[:min(len(q.Blocks), (q.PromptTokens+7)/8)]
			}
		}
		single, stats := drive(t, actions, false)
		macro, _ := drive(t, actions, true)
		if !reflect.DeepEqual(single, macro) {
			t.Fatalf("seed %d: runs and single steps differ", seed)
		}
		hits += stats.HitTokens
	}
	if hits < 1000 {
		t.Fatalf("the workloads test too little: %d hit tokens", hits)
	}
}
