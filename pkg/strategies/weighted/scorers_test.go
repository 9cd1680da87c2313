package weighted

import (
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// three workers, a, b and c, and a request for 100 tokens.
func three(cached ...int) router.Input {
	in := router.Input{Request: router.Request{PromptTokens: 100}, Cached: cached}
	for i, id := range []string{"a", "b", "c"} {
		known := func(v float64) router.Gauge { return router.Gauge{Value: v, At: 1} }
		in.Workers = append(in.Workers, router.Worker{ID: id, Load: router.Load{
			Waiting: known(float64(32 * i)), Running: known(float64(10 - 5*i)), KVUsed: known(0.25 * float64(i)), QueuedTokens: i << 20,
		}})
	}
	return in
}

// TestScores works out each score by hand.
func TestScores(t *testing.T) {
	even := three(0, 0, 0)
	for i := range even.Workers {
		even.Workers[i].Load = router.Load{Waiting: router.Gauge{Value: 7, At: 1}, Running: router.Unknown, KVUsed: router.Unknown}
	}
	for _, test := range []struct {
		name string
		in   router.Input
		want []float64
	}{
		{"prefix", three(0, 25, 100), []float64{0, 0.25, 1}},
		{"queue", three(0, 0, 0), []float64{1, 0.5, 0}},
		{"queue", even, []float64{1, 1, 1}},
		{"running", three(0, 0, 0), []float64{0, 0.5, 1}},
		{"running", even, []float64{1, 1, 1}},
		{"kv", three(0, 0, 0), []float64{1, 0.75, 0.5}},
		{"kv", even, []float64{1, 1, 1}},
		{"load", three(0, 0, 0), []float64{0.5, 0.375, 0.25}},
		{"tokens", three(0, 0, 0), []float64{1, 0.75, 0.5}},
		{"recent", three(0, 0, 0), []float64{1, 0.5, 0}},
		{"recent", three(0, 16, 0), []float64{0.5, 0.5, 0.5}},
	} {
		w := &weighted{sent: newRecency()}
		w.sent.touch("b")
		w.sent.touch("c")
		scores := []float64{9, 9, 9} // what the scorer before left
		at := slices.IndexFunc(choices(), func(c choice) bool { return c.option == test.name })
		if choices()[at].score(w, test.in, scores); !slices.Equal(scores, test.want) {
			t.Errorf("%s: %v, want %v", test.name, scores, test.want)
		}
	}
}

func made(t *testing.T, o router.Options) *weighted {
	t.Helper()
	instance, err := Definition().New(o, 1)
	if err != nil {
		t.Fatal(err)
	}
	return instance.(*weighted)
}

// TestRecency holds that only requests without a cached prefix count, and that a worker
// which is gone or restarts counts as never used.
func TestRecency(t *testing.T) {
	o := router.Options{"prefix": "1", "queue": "0", "kv": "0", "recent": "0.01"}
	first := func(w *weighted, cached ...int) int { return w.Route(three(cached...)).Ranking[0].Worker }
	w := made(t, o)
	order := []int{first(w, 0, 0, 0), first(w, 0, 0, 0), first(w, 0, 0, 0)}
	warm := make([]int, 3)
	warm[order[0]] = 50
	if got := first(w, warm...); got != order[0] {
		t.Errorf("the worker with the prefix is %d, it went to %d", order[0], got)
	}
	if got := first(w, 0, 0, 0); got != order[0] {
		t.Errorf("the next cold request went to %d, want %d, whose last one is the oldest", got, order[0])
	}
	for _, kind := range []router.EventKind{router.WorkerGone, router.WorkerRestarted} {
		last := first(w, 0, 0, 0)
		w.Observe([]router.Event{{Kind: kind, Worker: router.WorkerRef{ID: string(rune('a' + last))}}})
		if got := first(w, 0, 0, 0); got != last {
			t.Errorf("after %v of %d it went to %d", kind, last, got)
		}
	}
}

// TestDraw holds that workers are drawn by their sums, and the rest of the ranking is by
// them.
func TestDraw(t *testing.T) {
	w := made(t, router.Options{"prefix": "1", "queue": "0", "kv": "0", "pick": "draw"})
	count := [3]int{}
	for seed := range uint64(10_000) {
		in := three(75, 25, 0)
		in.Seed = seed
		d := w.Route(in)
		count[d.Ranking[0].Worker]++
		if d.Ranking[0].Worker == 1 && d.Ranking[1].Worker != 0 {
			t.Fatalf("ranking %v", d.Ranking)
		}
	}
	if count[2] != 0 || count[1] < 2300 || count[1] > 2700 {
		t.Errorf("10,000 draws by 3:1:0 went %v", count)
	}
}
