package strategies

import (
	"fmt"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// TestEvenSpread sends 1,000 requests that have nothing in common, one after the
// other, to four idle workers: every strategy has to spread them, and those that
// weigh energy too, where waking a worker costs nothing or nobody knows what.
func TestEvenSpread(t *testing.T) {
	type fleet struct {
		name   string
		worker router.Worker
	}
	unknown := router.Worker{Carbon: router.Carbon{GramsPerKWh: router.Unknown}}
	free := router.Worker{
		Energy: router.Energy{PrefillJoules: 0.03, DecodeJoules: 0.07, SharedJoules: 3, PUE: 1.2},
		Carbon: router.Carbon{GramsPerKWh: router.Gauge{Value: 300}},
	}
	for _, d := range Catalog() {
		for _, f := range []fleet{{"nothing is known", unknown}, {"waking is free", free}} {
			p, count, now := newPool(t, d.Name, nil, 4, f.worker), map[string]int{}, router.Time(0)
			for i := range 1000 {
				now = now.Add(10 * time.Millisecond)
				s := p.take(t, now, prompt(i, 320))
				count[s.Worker.ID]++
				now = now.Add(10 * time.Millisecond)
				p.core.FirstToken(now, s.Ticket)
				p.core.Finish(now, s.Ticket, router.Ending{Outcome: router.Completed, Usage: router.Usage{PromptTokens: 320, OutputTokens: 20, CachedTokens: -1}})
			}
			for i := range 4 {
				if n := count[fmt.Sprint("w", i)]; n < 190 || n > 310 {
					t.Errorf("%s, where %s: %v, want 250 each, give or take 60", d.Name, f.name, count)
					break
				}
			}
		}
	}
}
