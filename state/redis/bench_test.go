package redis

import (
	"fmt"
	"testing"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/state"
	"gatewayd/state/redistest"
)

// Sizes: 12 bytes per key in a snapshot, 16 in a plan.
func BenchmarkStore(b *testing.B) {
	url, _ := redistest.Start(b)
	s, err := Open(url, Options{Timeout: patience})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx := b.Context()
	version := uint64(0)
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	check(remember(s, ctx))
	b.Run("Facts/1", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Facts(ctx, "pool", home)
			check(err)
		}
	})
	b.Run("Facts/1/parallel", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				_, err := s.Facts(ctx, "pool", home)
				check(err)
			}
		})
	})
	b.Run("Write/100", func(b *testing.B) {
		writes := make([]router.Write, 100)
		for i := range writes {
			writes[i] = router.Write{Fact: router.Fact{FactKey: router.FactKey{Family: "home", Key: uint64(i)}, Value: []byte("w1")}, TTL: time.Minute}
		}
		for b.Loop() {
			check(s.Write(ctx, "pool", writes))
		}
	})
	for _, keys := range []int{1_000, 100_000, 1_000_000} {
		snapshot := make([]byte, 12*keys)
		b.Run(fmt.Sprintf("PutSnapshot/%d", keys), func(b *testing.B) {
			for b.Loop() {
				check(s.PutSnapshot(ctx, "pool", "a", snapshot, time.Minute))
			}
		})
		for i := range 8 {
			check(s.PutSnapshot(ctx, "pool", fmt.Sprint(i), snapshot, time.Minute))
		}
		b.Run(fmt.Sprintf("Peers/8x%d", keys), func(b *testing.B) {
			for b.Loop() {
				_, err := s.Peers(ctx, "pool", "a")
				check(err)
			}
		})
		plan := make([]byte, 16*keys)
		b.Run(fmt.Sprintf("PublishPlan/%d", keys), func(b *testing.B) {
			for b.Loop() {
				version++
				check(s.PublishPlan(ctx, "pool", "x", state.Plan{Version: version, Bytes: plan}, time.Minute))
			}
		})
		b.Run(fmt.Sprintf("LatestPlan/%d", keys), func(b *testing.B) {
			for b.Loop() {
				_, _, err := s.LatestPlan(ctx, "pool", "x", 0)
				check(err)
			}
		})
	}
	b.Run("LatestPlan/none", func(b *testing.B) {
		for b.Loop() {
			_, _, err := s.LatestPlan(ctx, "pool", "x", version)
			check(err)
		}
	})
}
