package workload

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The published population and the law that fits it.
const (
	Keys  = 128_824
	Sigma = 1.65
)

// Key is one routing key: a tenant with a context of its own.
type Key struct {
	Session uint64  // as in trace.Request; never 0
	Share   float64 // of the requests, 0 ... 1
}

// Each purpose has a random stream of its own.
const (
	streamPopulation = iota + 1
	streamDrift
	streamDraws
	streamGaps
)

func stream(seed, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// Population draws n keys of lognormal rates, by decreasing share; the shares add
// up to 1. Keys of different seeds differ, so that hashing places them anew.
func Population(n int, seed uint64) []Key {
	rng := stream(seed, streamPopulation)
	shares := make([]float64, n)
	for i := range shares {
		shares[i] = math.Exp(Sigma * rng.NormFloat64())
	}
	slices.Sort(shares)
	keys := make([]Key, n)
	for i := range keys {
		keys[i] = Key{Session: seed<<32 | uint64(i+1), Share: shares[n-1-i]}
	}
	return scaled(keys, 1)
}

// Top is the active set of the n hottest keys, whose shares add up to 1.
func Top(population []Key, n int) []Key {
	return scaled(slices.Clone(population[:min(n, len(population))]), 1)
}

// WithWhales adds n equal keys that have a share of all requests together; the
// others keep their proportions.
func WithWhales(keys []Key, n int, share float64) []Key {
	if n <= 0 || len(keys) == 0 {
		return keys
	}
	out := make([]Key, 0, n+len(keys))
	for i := range n {
		out = append(out, Key{Session: keys[0].Session&^(1<<32-1) | 1<<31 | uint64(i), Share: share / float64(n)})
	}
	return append(out, scaled(slices.Clone(keys), 1-share)...)
}

// Drift lets each share take one step of a lognormal random walk.
func Drift(keys []Key, sigma float64, seed uint64) []Key {
	rng := stream(seed, streamDrift)
	out := slices.Clone(keys)
	for i := range out {
		out[i].Share *= math.Exp(sigma * rng.NormFloat64())
	}
	return scaled(out, 1)
}

func scaled(keys []Key, total float64) []Key {
	sum := 0.0
	for _, k := range keys {
		sum += k.Share
	}
	for i := range keys {
		keys[i].Share *= total / sum
	}
	return keys
}

// Statistics are the published ones of a population.
type Statistics struct {
	Gini    float64 // of the shares
	Top4    float64 // share of the requests on the hottest 4 % of the keys
	Largest float64 // share of the hottest key
}

// Describe measures keys that are ordered by decreasing share.
func Describe(keys []Key) (s Statistics) {
	n := float64(len(keys))
	top := int(math.Round(0.04 * n))
	for i, k := range keys {
		s.Gini += (n - 2*float64(i) - 1) * k.Share / n
		s.Largest = max(s.Largest, k.Share)
		if i < top {
			s.Top4 += k.Share
		}
	}
	return s
}
