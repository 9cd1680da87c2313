// Package dualmap maps each prefix to two workers and takes the one with the
// longer cached prefix, unless it would be too slow.
package dualmap

import (
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/option"
	"gatewayd/pkg/strategies/internal/rank"
)

const (
	name    = "dualmap"
	version = "1.0.0"
	// second turns a name into the one that it has on the second ring.
	second = 0x2545f4914f6cdd1d
)

func options() []router.Option {
	return []router.Option{
		{Name: "ttft", Default: "2s", Help: "target for the time to first token; above it load decides"},
		{Name: "rate", Default: "8000", Help: "prompt tokens per second that a worker computes, to predict the time to first token"},
		{Name: "prefix", Default: "0", Help: "tokens of the prompt whose hash maps it; 0 = the request's key"},
	}
}

type dualmap struct {
	ttft   float64 // s
	rate   float64 // tokens/s
	prefix int     // tokens
}

// Definition describes the strategy "dualmap".
func Definition() router.Definition {
	return router.Definition{
		Name: name, Version: version,
		Summary: "of two workers by hash the one with more of the prefix, or the faster one when it is slow (DualMap, ICLR 2026)",
		Options: options(),
		New: func(o router.Options, _ uint64) (router.Instance, error) {
			set := option.Parse(options(), o)
			d := dualmap{
				ttft:   set.Duration("ttft", time.Millisecond, time.Hour).Seconds(),
				rate:   set.Float("rate", 1, 1e9),
				prefix: set.Int("prefix", 0, 1<<30),
			}
			return d, set.Err()
		},
	}
}

// Info says what the strategy does and needs.
func (d dualmap) Info() router.Info {
	return router.Info{Name: name, Version: version, Routes: true, Cached: true, Blocks: d.prefix > 0}
}

// Route decides one request.
func (d dualmap) Route(in router.Input) router.Decision {
	a, b := pair(in.Workers, d.name(in))
	best, other, reason := a, b, "prefix"
	if in.Cached[b] > in.Cached[a] || in.Cached[b] == in.Cached[a] && d.predict(in, b) < d.predict(in, a) {
		best, other = b, a
	}
	if d.predict(in, best) > d.ttft && d.predict(in, other) < d.predict(in, best) {
		best, other, reason = other, best, "load"
	}
	ranking := []router.Placement{{Worker: best}}
	if other != best {
		ranking = append(ranking, router.Placement{Worker: other})
	}
	return rank.Route(reason, ranking)
}

// predict is the time to first token at a worker, in seconds: the prompt tokens
// that wait there and those of this request that are not cached.
func (d dualmap) predict(in router.Input, w int) float64 {
	uncached := max(1, in.Request.PromptTokens-in.Cached[w])
	return float64(in.Workers[w].Load.QueuedTokens+uncached) / d.rate
}

// name is the hash that maps a request: of its prefix, else its key. Requests
// with neither are spread.
func (d dualmap) name(in router.Input) uint64 {
	r := &in.Request
	if d.prefix > 0 && len(r.Blocks) > 0 && r.BlockTokens > 0 {
		return r.Blocks[min(max(d.prefix/r.BlockTokens, 1), len(r.Blocks))-1]
	}
	if r.Key != 0 {
		return r.Key
	}
	return in.Seed
}

// pair returns the first worker of a name's rendezvous order on each of two
// rings, the second choice of the second ring if they are the same; twice the
// same if there is only one.
func pair(workers []router.Worker, name uint64) (a, b int) {
	b = -1
	var highest uint64
	for i := range workers {
		if w := router.Rendezvous(name, router.HashID(workers[i].ID)); i == 0 || w > highest {
			a, highest = i, w
		}
	}
	for i := range workers {
		if i == a {
			continue
		}
		if w := router.Rendezvous(router.Mix(name^second), router.HashID(workers[i].ID)); b < 0 || w > highest {
			b, highest = i, w
		}
	}
	if b < 0 {
		b = a
	}
	return a, b
}
