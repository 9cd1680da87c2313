package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Family is what several differences have in common when they are judged
// together.
type Family struct {
	// Outside is the probability that each interval leaves out so that all of them
	// hold at once with the confidence asked for.
	Outside float64

	confidence float64
	members    int
	least      []float64 // smallest p of each draw, ascending; nil if draws say nothing
}

// Together finds the level of several differences that come from the same draws
// and seeds. Differences of unknown error are no members.
func Together(differences []Sample, estimates []Estimate, confidence float64, seed uint64) Family {
	f := Family{Outside: 1 - confidence, confidence: confidence}
	var members []int
	for i, e := range estimates {
		if e.Error > 0 {
			members = append(members, i)
		}
	}
	if f.members = len(members); f.members < 2 {
		return f
	}
	f.least = least(differences, estimates, members, seed)
	at := int(f.Outside * float64(len(f.least)))
	f.Outside = f.bounded(f.least[max(0, at-1)], f.Outside/float64(f.members), f.Outside)
	return f
}

func (f *Family) bounded(p, low, high float64) float64 { return min(max(p, low), high) }

// least is the smallest p of the members in each draw from a world in which no
// difference is real: how far the draw's sessions and as many random seeds move
// the differences from their estimates.
func least(differences []Sample, estimates []Estimate, members []int, seed uint64) []float64 {
	const without = 1000 // draws when no sessions are resampled
	draws := without
	if d := differences[members[0]].Draws; d != nil {
		draws = len(d[0])
	}
	rng := rand.New(rand.NewPCG(seed, 0x66616d696c79)) // "family": a stream of its own
	noise := make([]float64, len(differences[members[0]].Values))
	out := make([]float64, draws)
	for d := range out {
		for s := range noise {
			noise[s] = rng.NormFloat64()
		}
		far := 0.0
		for _, i := range members {
			far = max(far, math.Abs(differences[i].shift(estimates[i], d, noise)/estimates[i].Error))
		}
		out[d] = normalTail(far)
	}
	slices.Sort(out)
	return out
}

// shift is how far draw d and random multiples of the seeds' own deviations move
// a mean.
func (s Sample) shift(e Estimate, d int, noise []float64) float64 {
	n := float64(len(s.Values))
	sum := 0.0
	if e.seeds > 0 {
		scale := math.Sqrt(e.seeds * n / (n - 1))
		for i, v := range s.Values {
			sum += scale * noise[i] * (v - e.Mean) / n
		}
	}
	for i := range s.Draws {
		sum += (s.Draws[i][d] - s.Values[i]) / n
	}
	return sum
}

// Adjusted turns the p of one difference into the probability that any member
// would have one as small if no difference were real.
func (f *Family) Adjusted(p float64) float64 {
	if math.IsNaN(p) || f.members < 2 {
		return p
	}
	below, _ := slices.BinarySearchFunc(f.least, p, func(v, p float64) int {
		if v <= p {
			return -1
		}
		return 1
	})
	return f.bounded(float64(below)/float64(len(f.least)), p, min(1, p*float64(f.members)))
}
