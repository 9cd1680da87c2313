package study

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"gatewayd/benchlab/paper/chain"
	"gatewayd/benchlab/sim/signal"
	"gatewayd/pkg/router"
)

// Fleet is equal workers. Zero fields take the default in their comment.
type Fleet struct {
	Workers int           // 8
	Blocks  int           // of each worker's cache; 7,000
	Seed    uint64        // of the gateway's draws
	Signal  signal.Signal // the best one of reuse that strategies have
}

func (f Fleet) withDefaults() Fleet {
	if f.Workers <= 0 {
		f.Workers = 8
	}
	if f.Blocks <= 0 {
		f.Blocks = 7000
	}
	return f
}

// perToken is what computing a token takes: so little that nothing waits for it,
// and yet times to first token tell what was cached.
const perToken = time.Microsecond

// Result is what came of a run.
type Result struct {
	Hit       float64 // share of prompt blocks found in the cache of their worker
	Imbalance float64 // blocks computed at the worker with most of them, over the mean
	Moves     int     // turns at another worker than the turn before
	Workers   []int   // of each request, in order
}

// Run places traffic with a chain of the catalog's strategies.
func Run(t *Traffic, f Fleet, text string) (Result, error) {
	f = f.withDefaults()
	members := make([]router.Member, f.Workers)
	caches := make([]*cache, f.Workers)
	place := map[string]int{}
	for i := range members {
		id := fmt.Sprintf("w%03d", i)
		members[i].Worker = router.Worker{ID: id, KVTokens: f.Blocks * t.blockTokens}
		members[i].Carbon.GramsPerKWh = router.Unknown
		caches[i] = newCache(f.Blocks, t.blocks)
		place[id] = i
	}
	g, err := chain.NewGateway(text, f.Signal, router.Config{Pool: "study", Seed: f.Seed}, members)
	if err != nil {
		return Result{}, err
	}
	work, total, hits := make([]int, f.Workers), 0, 0
	looked, read := make([]int, f.Workers), make([]int, f.Workers) // prompt tokens, and those found in a cache
	var out Result
	last := slices.Repeat([]int{-1}, t.Sessions)
	var blocks []uint64
	var second router.Time // when the core is to be told the time again
	for n, r := range t.Requests {
		now := router.Time(r.At)
		for ; second <= now; second = second.Add(time.Second) {
			if err := g.Tick(second); err != nil {
				return Result{}, err
			}
		}
		blocks = blocks[:0]
		for _, b := range r.blocks {
			blocks = append(blocks, router.Mix(uint64(b)+1))
		}
		step, err := g.Place(now, router.Request{
			ID: strconv.Itoa(n), Key: router.Mix(t.salt ^ uint64(r.Session+1)), PromptTokens: r.Input,
			Blocks: blocks, BlockTokens: t.blockTokens,
		})
		if err != nil {
			return Result{}, err
		}
		w := place[step.Worker.ID]
		found := caches[w].serve(r.blocks)
		cached := min(found*t.blockTokens, r.Input)
		if looked[w], read[w] = looked[w]+r.Input, read[w]+cached; f.Signal.Counted() {
			g.Core.SetCacheUse(now, step.Worker.ID, float64(looked[w]), float64(read[w]))
		}
		g.Core.FirstToken(now.Add(perToken*time.Duration(1+r.Input-cached)), step.Ticket)
		g.Core.Finish(now, step.Ticket, router.Ending{Outcome: router.Completed, Usage: f.Signal.Usage(router.Usage{
			PromptTokens: r.Input, CachedTokens: cached, OutputTokens: 1,
		})})
		hits, total, work[w] = hits+found, total+len(r.blocks), work[w]+len(r.blocks)-found
		if last[r.Session] >= 0 && last[r.Session] != w {
			out.Moves++
		}
		last[r.Session] = w
		out.Workers = append(out.Workers, w)
	}
	if total > 0 {
		out.Hit = float64(hits) / float64(total)
	}
	if missed := total - hits; missed > 0 {
		out.Imbalance = float64(slices.Max(work)*f.Workers) / float64(missed)
	}
	return out, nil
}
