package plugin

import (
	"fmt"
	"testing"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// BenchmarkRoute measures routes with 64 workers, of which two loads change per
// route, and 16 blocks, from a number of callers at once.
func BenchmarkRoute(b *testing.B) {
	s := spec("good", "faulty")
	p, err := Launch(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	i, err := p.Open(b.Context(), nil, 1, "pool")
	if err != nil {
		b.Fatal(err)
	}
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers, "-callers"), func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(callers/2 + callers%2)
			b.RunParallel(func(pb *testing.PB) {
				in := router.Input{Fleet: 1, Workers: workers(64), Request: router.Request{ID: "id", Model: "model", Blocks: make([]uint64, 16)}}
				for n := 0; pb.Next(); n++ {
					in.Workers[n%64].Load.InFlight++
					if _, err := i.RouteContext(b.Context(), in, TraceContext{}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkPlan measures a plan of a million keys, there and back.
func BenchmarkPlan(b *testing.B) {
	p, err := Launch(b.Context(), spec("good", "plan-only"))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	i, err := p.Open(b.Context(), nil, 1, "pool")
	if err != nil {
		b.Fatal(err)
	}
	in := planInput(1_000_000)
	for b.Loop() {
		if _, err := i.Plan(in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTable measures what the host does per route to find out what is new
// about 64 workers, of which one load changes.
func BenchmarkTable(b *testing.B) {
	var t table
	in := router.Input{Workers: workers(64)}
	for n := 0; b.Loop(); n++ {
		in.Workers[n%64].Load.InFlight++
		t.prepare(&in, &wire.RouteTask{})
	}
}
