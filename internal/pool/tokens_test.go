package pool

import (
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// Endless prompts that have nothing in common are forgotten again, and counted; a
// prefix that is in use all the time is not.
func TestEndlessPrompts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const blocks, holds, requests, length = 1000, 50, 5000, 10
		link := binding("sticky")
		link.Info.Cached = true
		w := newPool(t, func(c *Config) { c.Core.IndexBlocks, c.Core.MaxHolds = blocks, holds }, link)
		defer w.Close()
		w.workers(0)
		pass(2 * time.Second) // until it is planned
		prompt := func(of uint64) router.Request {
			r := router.Request{Key: of, PromptTokens: 16 * length, BlockTokens: 16}
			for i := range uint64(length) {
				r.Blocks = append(r.Blocks, router.Mix(of<<8+i))
			}
			return r
		}
		for i := range uint64(requests) {
			w.acquire(prompt(i + 2)).complete()
			a := w.acquire(prompt(1))
			if a.complete(); i > 0 && a.Receipt().Cached != 16*length {
				t.Fatalf("request %d: %d tokens of the prefix in use are known", i, a.Receipt().Cached)
			}
		}
		pass(2 * time.Second)
		for what, want := range map[string]float64{"blocks": (requests+1)*length - blocks, "holds": requests + 1 - holds} {
			if got := w.metric("gatewayd_evictions_total", `what="`+what+`"`); got != want {
				t.Errorf("%v %s were forgotten, want %v", got, what, want)
			}
		}
		if plans := w.Plans(); len(plans) != 1 || plans[0].Holds != holds {
			t.Errorf("plans %+v", plans)
		}
	})
}

// There is no tokenizer: how many tokens a byte makes is learned from workers'
// usage, and the metrics show whether it was.
func TestTokensPerByte(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newPool(t, nil)
		defer w.Close()
		w.workers(0)
		for _, step := range []struct {
			usage         router.Usage
			bytes         int
			learned, uses float64
		}{
			{router.Usage{}, 1000, 0, 0.25},
			{router.Usage{PromptTokens: 500}, 1000, 0.5, 0.5},
			{router.Usage{}, 1000, 0.5, 0.5},
		} {
			w.acquire(router.Request{}).Finish(router.Ending{Outcome: router.Completed, Usage: step.usage}, step.bytes)
			pass(2 * time.Second)
			if got := w.metric("gatewayd_tokens_per_byte", `pool="m"`); got != step.learned || w.TokensPerByte() != step.uses {
				t.Errorf("after %+v: %v in metrics, %v in use; want %v and %v", step.usage, got, w.TokensPerByte(), step.learned, step.uses)
			}
		}
	})
}
