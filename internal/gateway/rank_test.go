package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/pool"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// ranks is a strategy that asks the first worker for a data-parallel rank.
type ranks struct {
	pool.Strategy // nil: nothing else is called
	rank          int
}

func (s ranks) RouteContext(context.Context, router.Input, plugin.TraceContext) (router.Decision, error) {
	return router.Decision{Verdict: router.Route, Ranking: []router.Placement{{Worker: 0, Rank: s.rank + 1}}}, nil
}

// one is the only pool.
type one struct{ *pool.Pool }

func (o one) Lookup(string) (*pool.Pool, string, bool) { return o.Pool, "", true }

// The rank that a strategy chooses reaches the worker, unless the worker is a rank itself;
// no strategy has chosen what a client says.
func TestRankReachesTheWorker(t *testing.T) {
	for _, c := range []struct {
		rank int // -1: any
		own  string
		want string
	}{{-1, "", ""}, {0, "", "0"}, {3, "", "3"}, {3, "5", "5"}} {
		f := newFake(t, answerJSON)
		w := newWorld(t, func(cfg *config.Config) {
			if c.own != "" {
				cfg.Workers[0].Headers = map[string]string{"X-Data-Parallel-Rank": c.own}
			}
		}, f)
		p, err := pool.New(pool.Config{
			Gateway: "g", Core: router.Config{Pool: "m"}, Store: memory.New(memory.Options{}), PlanTimeout: time.Second,
			Telemetry: telemetry.Off(), Logger: hclog.NewNullLogger(),
			Chain: []pool.Link{{Link: router.Link{Name: "ranks", Info: router.Info{Name: "ranks", Routes: true}}, Strategy: ranks{rank: c.rank}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := p.SetFleet([]router.Member{{Worker: router.Worker{ID: "w0", Incarnation: 1}}}); err != nil {
			t.Fatal(err)
		}
		w.gateway.pools = one{p}
		resp, text := w.post("/v1/chat/completions", hello, "X-Data-Parallel-Rank", "7")
		if got := f.seen()[0].header.Get("X-Data-Parallel-Rank"); got != c.want {
			t.Errorf("rank %d of %q: the worker is asked for %q (%s %s)", c.rank, c.own, got, resp.Status, text)
		}
		if s, r := resp.Header.Get("X-Gatewayd-Strategy"), resp.Header.Get("X-Gatewayd-Reason"); s != "ranks" || r != "route" {
			t.Errorf("the client is told of strategy %q and reason %q", s, r)
		}
	}
}
