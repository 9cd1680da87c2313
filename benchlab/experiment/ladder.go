package experiment

import (
	"math"
)

// Ladder is a search for the largest load that a contender bears.
type Ladder struct {
	Steps     []float64 // loads, ascending; all are probed
	Tolerance float64   // bisection ends when the bounds differ by no more than this share; 0: 2 %
	Beyond    int       // how often the ladder may be lengthened, each time by a factor of 2, when no step was borne or all were
}

// Steps returns n values from low to high in equal ratios; low alone if n is 1.
func Steps(low, high float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = low
		if n > 1 {
			out[i] = low * math.Pow(high/low, float64(i)/float64(n-1))
		}
	}
	if n > 1 {
		out[n-1] = high
	}
	return out
}

const maxBisections = 30

// Search probes the steps and then halves, in ratios, the interval between the
// last load that was borne and the first that was not. It returns these two: holds
// is 0 if not even the least load was borne, fails is 0 if the largest one was. A
// load that is borne above one that was not does not count. Probes that are not of
// the steps are refined.
func (l *Ladder) Search(probe func(load float64, refined bool) (bears bool, err error)) (holds, fails float64, err error) {
	for _, at := range l.Steps {
		bears, err := probe(at, false)
		switch {
		case err != nil:
			return 0, 0, err
		case fails > 0:
		case bears:
			holds = at
		default:
			fails = at
		}
	}
	for range l.Beyond {
		at := 0.0
		switch {
		case holds == 0:
			at = fails / 2
		case fails == 0:
			at = holds * 2
		}
		if at == 0 {
			break
		}
		bears, err := probe(at, true)
		switch {
		case err != nil:
			return 0, 0, err
		case bears:
			holds = at
		default:
			fails = at
		}
	}
	tolerance := l.Tolerance
	if tolerance <= 0 {
		tolerance = 0.02
	}
	for range maxBisections {
		if holds == 0 || fails == 0 || fails <= holds*(1+tolerance) {
			break
		}
		mid := math.Sqrt(holds * fails)
		bears, err := probe(mid, true)
		if err != nil {
			return 0, 0, err
		}
		if bears {
			holds = mid
		} else {
			fails = mid
		}
	}
	return holds, fails, nil
}
