package trace

import (
	"math"
	"slices"
	"time"
)

// Info is what a trace holds, in numbers. Shares are from 0 to 1; a figure that
// an empty or too short trace cannot have is 0.
type Info struct {
	Rows     int
	Arrivals Arrivals
	Input    Distribution[int]
	Output   Distribution[int]
	Reuse    Reuse
	Sessions Sessions
}

// Arrivals sums up arrival times.
type Arrivals struct {
	Span      time.Duration // from the first arrival to the last
	RatePerS  float64       // rows over span
	Distinct  int           // distinct arrival times
	ZeroGaps  float64       // share of the gaps between arrivals that are 0
	GapCV     float64       // standard deviation over mean of the gaps
	Tick      time.Duration // see Trace.Tick
	IDC       [3]float64    // variance over mean of the arrivals in windows of 1 s, 10 s and 60 s
	Unordered bool          // rows of the file were not in order of time
}

// Distribution sums up values. Percentiles are by nearest rank: the least value that at
// least that share of the values does not exceed.
type Distribution[T int | float64] struct {
	Count                   int
	Sum                     T
	Mean                    float64
	P10, P50, P90, P99, Max T
}

// Sessions counts sessions; all 0 unless they were recorded or inferred.
type Sessions struct {
	Count     int
	MultiTurn int                   // with two requests or more
	FollowUps float64               // share of the requests that are not their session's first
	InMulti   float64               // share of the requests that are in sessions of two requests or more
	Turns     Distribution[int]     // requests a session
	Gaps      Distribution[float64] // s from the arrival of the request that a row follows to the row's
}

// Info computes the numbers. Memory is about 50 bytes for each distinct block.
func (t *Trace) Info() Info {
	return Info{
		Rows: len(t.Requests), Arrivals: t.arrivals(), Reuse: t.reuse(), Sessions: t.turns(),
		Input:  t.lengths(func(r *Request) int { return r.Input }),
		Output: t.lengths(func(r *Request) int { return r.Output }),
	}
}

// NewDistribution sums up values, which it sorts.
func NewDistribution[T int | float64](values []T) (s Distribution[T]) {
	if len(values) == 0 {
		return s
	}
	slices.Sort(values)
	for _, v := range values {
		s.Sum += v
	}
	rank := func(percent int) T { return values[max((len(values)*percent+99)/100, 1)-1] }
	s.Count, s.Mean = len(values), float64(s.Sum)/float64(len(values))
	s.P10, s.P50, s.P90, s.P99, s.Max = rank(10), rank(50), rank(90), rank(99), values[len(values)-1]
	return s
}

func (t *Trace) lengths(of func(*Request) int) Distribution[int] {
	v := make([]int, len(t.Requests))
	for i := range v {
		v[i] = of(&t.Requests[i])
	}
	return NewDistribution(v)
}

func (t *Trace) arrivals() (a Arrivals) {
	a.Unordered = t.File.Unordered
	n := len(t.Requests)
	if n == 0 {
		return a
	}
	a.Tick = t.Tick()
	_, a.Distinct = t.gaps()
	first := t.Requests[0].At
	if a.Span = t.Requests[n-1].At - first; a.Span == 0 {
		return a
	}
	a.RatePerS = float64(n) / a.Span.Seconds()
	mean, squares := a.Span.Seconds()/float64(n-1), 0.0
	for i := 1; i < n; i++ {
		d := (t.Requests[i].At - t.Requests[i-1].At).Seconds() - mean
		squares += d * d
	}
	a.ZeroGaps = ratio(n-a.Distinct, n-1)
	a.GapCV = math.Sqrt(squares/float64(n-1)) / mean
	for i, window := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		a.IDC[i] = t.dispersion(window)
	}
	return a
}

// dispersion is the variance of the arrivals in windows from the first arrival to
// the last, over their mean.
func (t *Trace) dispersion(window time.Duration) float64 {
	first, n := t.Requests[0].At, len(t.Requests)
	windows := float64((t.Requests[n-1].At-first)/window + 1)
	mean := float64(n) / windows
	squares := 0.0
	for i := 0; i < n; {
		k, w := i, (t.Requests[i].At-first)/window
		for i < n && (t.Requests[i].At-first)/window == w {
			i++
		}
		squares += float64(i-k) * float64(i-k)
	}
	return (squares/windows - mean*mean) / mean
}

func (t *Trace) turns() (s Sessions) {
	turns := map[uint64]int{}
	var gaps []float64
	for i := range t.Requests {
		r := &t.Requests[i]
		if r.Session != 0 {
			turns[r.Session]++
		}
		if n := len(r.After); n > 0 {
			gaps = append(gaps, (r.At - t.Requests[r.After[n-1]].At).Seconds())
		}
	}
	var counts []int
	inMulti := 0
	for _, n := range turns {
		counts = append(counts, n)
		if n > 1 {
			s.MultiTurn++
			inMulti += n
		}
	}
	s.Count = len(counts)
	s.Turns, s.Gaps = NewDistribution(counts), NewDistribution(gaps)
	s.FollowUps = ratio(s.Turns.Sum-s.Count, len(t.Requests))
	s.InMulti = ratio(inMulti, len(t.Requests))
	return s
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
