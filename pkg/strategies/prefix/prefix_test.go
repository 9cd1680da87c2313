package prefix

import (
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata", Definition()) }

// TestLikeTwin compares with the rule written down as it is read.
func TestLikeTwin(t *testing.T) {
	script.Twin(t, Definition(), router.Options{"abs": "3", "threshold": "0.4"}, func(s script.Seen) []string {
		low, high := 1e9, 0.0
		for _, w := range s.Workers {
			low, high = min(low, float64(w.Load.InFlight)), max(high, float64(w.Load.InFlight))
		}
		shortest := script.Least(s.Workers, func(i int) float64 { return float64(s.Workers[i].Load.InFlight) })
		if high-low > 3 && high > 1.1*low {
			return shortest
		}
		most := 0
		for _, cached := range s.Cached {
			most = max(most, cached)
		}
		if float64(most) > 0.4*float64(s.Request.PromptTokens) {
			return script.Least(s.Workers, func(i int) float64 {
				return float64(most-s.Cached[i])*1e6 + float64(s.Workers[i].Load.InFlight)
			})
		}
		return shortest
	})
}

// input is a request for 100 tokens, at workers a, b and so on.
func input(inFlight, cached []int) router.Input {
	in := router.Input{Request: router.Request{PromptTokens: 100}, Cached: cached}
	for i, n := range inFlight {
		in.Workers = append(in.Workers, router.Worker{ID: string(rune('a' + i)), Load: router.Load{InFlight: n}})
	}
	return in
}

func made(t *testing.T, o router.Options) *prefix {
	t.Helper()
	instance, err := Definition().New(o, 1)
	if err != nil {
		t.Fatal(err)
	}
	return instance.(*prefix)
}

// TestUneven holds that queues are uneven only when they differ by more than both
// bounds.
func TestUneven(t *testing.T) {
	p := made(t, router.Options{"abs": "2", "rel": "2"})
	for _, test := range []struct {
		inFlight []int
		reason   string
		worker   int
	}{
		{[]int{4, 2}, "prefix", 0}, // by abs
		{[]int{5, 2}, "uneven", 1}, // by more than both
		{[]int{6, 3}, "prefix", 0}, // by rel
		{[]int{7, 4}, "prefix", 0}, // by less than rel
		{[]int{3, 0}, "uneven", 1},
	} {
		d := p.Route(input(test.inFlight, []int{90, 0}))
		if d.Reason != test.reason || d.Ranking[0].Worker != test.worker {
			t.Errorf("queues of %v: worker %d by %s, want %d by %s", test.inFlight, d.Ranking[0].Worker, d.Reason, test.worker, test.reason)
		}
	}
}

// TestServedIsForgotten holds that what a worker served in a former life breaks no tie.
func TestServedIsForgotten(t *testing.T) {
	for _, kind := range []router.EventKind{router.WorkerGone, router.WorkerRestarted} {
		p := made(t, nil)
		a, b := router.WorkerRef{ID: "a"}, router.WorkerRef{ID: "b"}
		p.Observe([]router.Event{{Kind: router.Dispatched, Worker: a}, {Kind: router.Dispatched, Worker: a}, {Kind: router.Dispatched, Worker: b}})
		if d := p.Route(input([]int{0, 0}, []int{0, 0})); d.Ranking[0].Worker != 1 {
			t.Errorf("ranking %v, want b first, which served less", d.Ranking)
		}
		p.Observe([]router.Event{{Kind: kind, Worker: a}})
		if d := p.Route(input([]int{0, 0}, []int{0, 0})); d.Ranking[0].Worker != 0 {
			t.Errorf("after %v: ranking %v, want a first", kind, d.Ranking)
		}
	}
}
