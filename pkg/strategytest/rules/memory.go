package rules

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"gatewayd/pkg/router"
)

const (
	legs     = 4  // parts of a history; memory is read after each
	tries    = 3  // histories, if memory grows over the first
	callers  = 32 // at once, of a strategy in another process
	planKeys = 200
)

// memory feeds a long history of keys that come once. In its second half the
// strategy's memory may grow by no more than the slack. If it does, the history
// goes on twice as long: what only warms up stops growing.
func memory(ctx context.Context, t *trial) {
	if t.cfg.Memory == nil {
		t.skip("the memory of the process cannot be read")
		return
	}
	o := t.fresh(t.def)
	if o == nil {
		return
	}
	defer o.close()
	var held []uint64 // after each leg
	grown := func(from, to int) int64 { return int64(held[to-1]) - int64(held[from-1]) }
	for leg := range tries * legs {
		if err := t.feed(ctx, o, leg); err != nil {
			t.found("after %d requests: %v", t.cfg.History*(leg+1)/legs, err)
			return
		}
		now, err := t.cfg.Memory()
		if err != nil {
			t.skip("its memory cannot be read: %v", err)
			return
		}
		held = append(held, now)
		if leg != legs-1 {
			continue
		}
		if n := grown(legs/2, legs); n <= int64(t.cfg.MemorySlack) {
			t.result.Note = fmt.Sprintf("%+d KiB over the last %d of %d requests", n>>10, t.cfg.History/2, t.cfg.History)
			return
		}
	}
	half := grown(legs, tries*legs) / (2 * (tries - 1))
	if half > int64(t.cfg.MemorySlack) {
		t.found("its memory grows by %d KiB with each %d requests, one key each: bound what it remembers", half>>10, t.cfg.History/2)
		return
	}
	t.result.Note = fmt.Sprintf("%+d KiB with each %d of %d requests", half>>10, t.cfg.History/2, tries*t.cfg.History)
}

// feed sends one part of the history.
func (t *trial) feed(ctx context.Context, o *opened, leg int) error {
	n := t.cfg.History / legs
	d := &drawer{rng: rand.New(rand.NewPCG(seed, 4)), info: o.info, now: start}
	workers := d.workers(8)
	at := func(i int) (router.Time, uint64) {
		number := leg*n + i
		return start.Add(time.Duration(number) * 100 * time.Millisecond), router.Mix(uint64(number) + 1)
	}
	if o.info.Plans {
		for i := range max(1, n/1000) {
			now, key := at(i * 1000)
			if _, err := o.plan(ctx, t.historyPlan(now, key, workers, o.info.Rates)); err != nil {
				return err
			}
		}
	}
	if !o.info.Routes {
		return ctx.Err()
	}
	ask := func(from, to int) error {
		tell := teller{o: o, number: uint64(4 * (leg*n + from))}
		for i := from; i < to && ctx.Err() == nil; i++ {
			now, key := at(i)
			in := historyInput(now, key, workers, o.info)
			decision, err := o.route(ctx, in)
			if err == nil {
				err = tell.became(ctx, answer{asked: &in, decision: decision})
			}
			if err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	if o.remote == nil {
		return ask(0, n)
	}
	errs := make([]error, callers)
	var wait sync.WaitGroup
	for c := range callers {
		wait.Go(func() { errs[c] = ask(c*n/callers, (c+1)*n/callers) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func historyInput(now router.Time, key uint64, workers []router.Worker, info router.Info) router.Input {
	in := router.Input{Now: now, Seed: key, Fleet: 1, Workers: workers, Request: router.Request{
		ID: fmt.Sprintf("history-%016x", key), Model: "m", Key: key, PromptTokens: 100, BlockTokens: 16,
	}}
	if info.Cached {
		in.Cached = make([]int, len(workers))
	}
	if info.Blocks {
		in.Request.Blocks = []uint64{key + 1, key + 2, key + 3, key + 4}
	}
	return in
}

func (t *trial) historyPlan(now router.Time, key uint64, workers []router.Worker, rates bool) router.PlanInput {
	in := router.PlanInput{Now: now, Seed: key, Pool: "pool", Fleet: router.Fleet{Number: 1, Workers: workers}, TotalRate: 10, HalfLife: time.Minute}
	if rates {
		for i := range uint64(planKeys) {
			in.Rates = append(in.Rates, router.KeyRate{Key: key>>1 + i + 1, Rate: 1, Tokens: 100})
		}
	}
	return in
}
