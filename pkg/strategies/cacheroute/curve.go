package cacheroute

import (
	"math"
	"slices"
)

// curve is how demand is spread over keys: keys of nearly equal rates are one
// step, eight steps to each factor of two.
type curve struct {
	steps  []step
	lowest int     // of the exponent that the first step stands for
	fresh  float64 // tokens per second of keys that never come back
}

// step sums up the keys of one step.
type step struct {
	keys, rate, size, work float64 // number; requests per second; tokens; tokens per second
}

const perOctave = 3 // bits of the mantissa that tell steps apart

func place(rate float64) int { return int(math.Float64bits(rate) >> (52 - perOctave)) }

// newCurve returns an empty curve for rates between two bounds, above 0.
func newCurve(least, most, fresh float64) *curve {
	lowest := place(least)
	return &curve{steps: make([]step, place(most)-lowest+1), lowest: lowest, fresh: fresh}
}

func (c *curve) add(rate, size float64) {
	c.addAll(step{1, rate, size, rate * size})
}

// addAll adds keys of nearly equal rates. That their mean is one of the curve's rates
// holds but for rounding.
func (c *curve) addAll(keys step) {
	s := &c.steps[min(max(place(keys.rate/keys.keys)-c.lowest, 0), len(c.steps)-1)]
	s.keys += keys.keys
	s.rate += keys.rate
	s.size += keys.size
	s.work += keys.work
}

// with returns a copy with more tokens per second of keys that never come back.
func (c *curve) with(fresh float64) *curve {
	return &curve{steps: slices.Clone(c.steps), lowest: c.lowest, fresh: c.fresh + fresh}
}

// emptied returns a curve for the same rates without keys.
func (c *curve) emptied(fresh float64) *curve {
	return &curve{steps: make([]step, len(c.steps)), lowest: c.lowest, fresh: fresh}
}

// stay is the time in seconds after which a key that is not asked for leaves a
// cache of the given size in tokens that evicts the least recently used (Che,
// Tung and Wang, 2002): as many tokens are asked for within it as the cache
// holds. It is infinite if all fits.
func (c *curve) stay(tokens float64) float64 {
	total := 0.0
	for i := range c.steps {
		total += c.steps[i].size
	}
	if total <= tokens && c.fresh == 0 {
		return math.Inf(1)
	}
	if tokens <= 0 {
		return 0
	}
	t := 0.0
	for range 60 { // what is asked for is concave in time, so Newton comes from below
		held, slope := c.fresh*t, c.fresh
		for i := range c.steps {
			if s := &c.steps[i]; s.keys > 0 {
				rate := s.rate / s.keys
				gone := math.Exp(-rate * t)
				held += s.size * (1 - gone)
				slope += s.size * rate * gone
			}
		}
		more := (tokens - held) / slope
		if !(more > 1e-4*t) {
			break
		}
		t += more
	}
	return t
}

// hits is the tokens per second that are found in a cache in which a key stays
// for a time.
func (c *curve) hits(stay float64) float64 {
	sum := 0.0
	for i := range c.steps {
		if s := &c.steps[i]; s.keys > 0 {
			sum += s.work * (1 - math.Exp(-s.rate/s.keys*stay))
		}
	}
	return sum
}
