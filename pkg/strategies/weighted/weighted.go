// Package weighted adds up scores of workers, each between 0 and 1, and takes the
// highest sum: the scheduler of llm-d and of the Gateway API inference extension.
//
// Reading order: weighted.go (options, decision), scorers.go, recent.go.
package weighted

import (
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/rank"
)

const (
	name    = "weighted"
	version = "1.0.0"
)

// scorer gives each worker a score between 0 and 1.
type scorer func(w *weighted, in router.Input, scores []float64)

// choice is a scorer with the option that weighs it.
type choice struct {
	option, weight, help string
	score                scorer
}

func choices() []choice {
	return []choice{
		{"prefix", "3", "weight of the cached share of the prompt", prefix},
		{"queue", "2", "weight of a short queue, in relation to the others", queue},
		{"kv", "2", "weight of a free KV cache", kvFree},
		{"running", "0", "weight of few running requests, in relation to the others", running},
		{"load", "0", "weight of a queue that is short against 128 requests", load},
		{"tokens", "0", "weight of few waiting tokens, against 4,194,304", waitingTokens},
		{"recent", "0", "weight of a worker that got no request without a cached prefix for long, for such requests", leastRecent},
	}
}

func options() []router.Option {
	var options []router.Option
	for _, c := range choices() {
		options = append(options, router.Option{Name: c.option, Default: c.weight, Help: c.help})
	}
	return append(options, router.Option{
		Name: "pick", Default: "max", Values: []string{"max", "draw"},
		Help: "the highest sum, any one of equals; or draw a worker with its sum as its chance",
	})
}

// Definition describes the strategy "weighted".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "highest weighted sum of scores for prefix, queue, KV use and others (llm-d)",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(), o)
			w := &weighted{draw: set.Word("pick") == "draw", sent: newRecency()}
			for _, c := range choices() {
				if weight := set.Float(c.option, 0, 1e6); weight > 0 {
					w.parts = append(w.parts, part{weight, c.score})
				}
			}
			return w, set.Err()
		},
	}
}

type weighted struct {
	parts  []part
	draw   bool
	sent   *recency // of requests without a cached prefix
	sums   []float64
	scores []float64
}

type part struct {
	weight float64
	score  scorer
}

// Info says what the strategy does and needs.
func (w *weighted) Info() router.Info {
	return router.Info{
		Name: name, Version: version, Routes: true, Cached: true,
		Observes: []router.EventKind{router.WorkerGone, router.WorkerRestarted},
	}
}

// Observe forgets workers that are gone.
func (w *weighted) Observe(events []router.Event) {
	for _, e := range events {
		w.sent.forget(e.Worker.ID)
	}
}

// Route decides one request.
func (w *weighted) Route(in router.Input) router.Decision {
	n := len(in.Workers)
	w.sums, w.scores = append(w.sums[:0], make([]float64, n)...), append(w.scores[:0], make([]float64, n)...)
	for _, p := range w.parts {
		p.score(w, in, w.scores)
		for i, score := range w.scores {
			w.sums[i] += p.weight * score
		}
	}
	ranking := rank.Best(n, func(a, b int) bool {
		if w.sums[a] != w.sums[b] {
			return w.sums[a] > w.sums[b]
		}
		return router.Mix(in.Seed^router.HashID(in.Workers[a].ID)) < router.Mix(in.Seed^router.HashID(in.Workers[b].ID))
	})
	if w.draw {
		ranking = rank.First(drawn(w.sums, in.Seed), ranking)
	}
	if cold(in) {
		w.sent.touch(in.Workers[ranking[0].Worker].ID)
	}
	return rank.Route("score", ranking)
}

// drawn draws an index with a chance in proportion to its sum; each has the same
// if all sums are 0.
func drawn(sums []float64, seed uint64) int {
	total := 0.0
	for _, s := range sums {
		total += s
	}
	at := float64(router.Mix(seed)>>11) / (1 << 53)
	if total == 0 {
		return int(at * float64(len(sums)))
	}
	at *= total
	for i, s := range sums {
		if at -= s; at < 0 {
			return i
		}
	}
	return len(sums) - 1
}
