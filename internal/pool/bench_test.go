package pool

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// BenchmarkPool is a request's whole way through a pool: a worker, its first
// token, its end, with three strategies that have a plan in force: a table, a
// binding and a cost row.
func BenchmarkPool(b *testing.B) {
	for _, goroutines := range []int{1, 32} {
		b.Run(fmt.Sprint("goroutines=", goroutines), func(b *testing.B) {
			p := benchPool(b)
			defer p.Close()
			b.ReportAllocs()
			b.SetParallelism(max(1, goroutines/2)) // on two processors
			b.ResetTimer()
			if goroutines == 1 {
				for i := range b.N {
					serve(b, p, uint64(i)%5000+1)
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for key := rand.Uint64N(5000); pb.Next(); key = (key + 1) % 5000 {
					serve(b, p, key+1)
				}
			})
		})
	}
}

func serve(b *testing.B, p *Pool, key uint64) {
	a, err := p.Acquire(b.Context(), router.Request{Key: key, PromptTokens: 1000, MaxTokens: 100})
	if err != nil {
		b.Fatal(err)
	}
	a.FirstToken()
	a.Finish(router.Ending{Outcome: router.Completed, Usage: router.Usage{PromptTokens: 1000, OutputTokens: 100}}, 4000)
}

func benchPool(b *testing.B) *Pool {
	table := planning("table", func(_ context.Context, in router.PlanInput) (router.Plan, error) {
		p := tabled(in, 0)
		for key := range uint64(1000) {
			p.Table.Append(key+1, uint16(key%8))
		}
		return p, nil
	})
	row := planning("row", func(context.Context, router.PlanInput) (router.Plan, error) {
		return router.Plan{Rest: router.Rest{Order: router.ByCost, Cost: router.Row{{Feature: router.InFlight, Weights: []float64{1}}}}}, nil
	})
	p, err := New(Config{
		Gateway: "g", Core: router.Config{Pool: "m"}, Chain: []Link{table, binding("binding"), row}, Store: memory.New(memory.Options{}),
		PlanTimeout: time.Second, Telemetry: telemetry.Off(), Logger: hclog.NewNullLogger(),
	})
	if err != nil {
		b.Fatal(err)
	}
	var members []router.Member
	for i := range 8 {
		members = append(members, router.Member{Worker: router.Worker{ID: fmt.Sprint("w", i), Incarnation: 1}})
	}
	if err := p.SetFleet(members); err != nil {
		b.Fatal(err)
	}
	for len(p.Plans()) < 3 {
		<-time.After(time.Millisecond)
	}
	return p
}
