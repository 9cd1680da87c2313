package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// TestAgenda compares the heap with a sorted list.
func TestAgenda(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a agenda
	var twin []event
	var last event
	for range 5000 {
		if len(twin) == 0 || rng.IntN(9) < 5 {
			e := event{at: last.at + router.Time(rng.IntN(20)), kind: eventKind(rng.IntN(6)), who: int32(rng.IntN(100))}
			a.add(e)
			e.seq = a.seq
			twin = append(twin, e)
			slices.SortFunc(twin, func(x, y event) int {
				if x.before(&y) {
					return -1
				}
				return 1
			})
			continue
		}
		if a.next() != twin[0].at {
			t.Fatalf("next is %v, want %v", a.next(), twin[0].at)
		}
		if last = a.pop(); last != twin[0] {
			t.Fatalf("got %+v, want %+v", last, twin[0])
		}
		twin = twin[1:]
	}
}

// TestAgendaTies puts kinds in their order at one instant, and equal kinds in the
// order of their entry.
func TestAgendaTies(t *testing.T) {
	var a agenda
	for _, e := range []event{{at: 5, kind: arrives, who: 1}, {at: 5, kind: ticks}, {at: 5, kind: arrives, who: 2}, {at: 5, kind: stepEnds}, {at: 4, kind: arrives, who: 3}, {at: 5, kind: planReady}} {
		a.add(e)
	}
	var got []int32
	for len(a.heap) > 0 {
		e := a.pop()
		got = append(got, int32(e.kind)*10+e.who)
	}
	want := []int32{int32(arrives)*10 + 3, int32(stepEnds) * 10, int32(planReady) * 10, int32(ticks) * 10, int32(arrives)*10 + 1, int32(arrives)*10 + 2}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
