package trace

import (
	"math"
	"slices"
	"time"
)

// Info is what a trace holds, in numbers. Shares are from 0 to 1; a figure that
// an empty or too short trace cannot have is 0.
type Info struct {
	Rows          int
	Span          time.Duration // from the first arrival to the last
	RatePerS      float64       // rows over span
	DistinctTimes int           // distinct arrival times
	GapCV         float64       // standard deviation over mean of the gaps between arrivals
	Tick          time.Duration // see Trace.Tick
	Input         Lengths
	Output        Lengths
	Reuse         Reuse
	Sessions      Sessions
}

// Lengths sums up token counts. Percentiles are by nearest rank: the least value
// that at least that share of the rows does not exceed.
type Lengths struct {
	Mean          float64
	P50, P99, Max int
}

// Reuse is what one prefix cache that never evicts would serve, with the requests
// in arrival order: a request hits its leading blocks that were seen before.
type Reuse struct {
	BlockRefs      int     // block ids over all requests
	DistinctBlocks int     // different ones
	BlockHit       float64 // hit blocks over BlockRefs
	TokenHit       float64 // min(hit blocks x block size, prompt) over prompt tokens
	FirstBlock     float64 // share of the requests that begin with the most common first block
	Unchained      int     // ids met under two predecessors: equal ids without equal prefixes; 0 in a sound trace
}

// Sessions counts sessions; all 0 unless they were recorded or inferred.
type Sessions struct {
	Count     int
	MultiTurn int     // with two requests or more
	MaxTurns  int     // requests of the longest
	FollowUps float64 // share of the requests that are not their session's first
}

// Info computes the numbers in one pass; memory is about 50 bytes for each distinct
// block.
func (t *Trace) Info() Info {
	n := len(t.Requests)
	in := Info{Rows: n, Tick: t.Tick(), Reuse: t.reuse(), Sessions: t.turns()}
	if n == 0 {
		return in
	}
	in.Span = t.Requests[n-1].At - t.Requests[0].At
	if in.Span > 0 {
		in.RatePerS = float64(n) / in.Span.Seconds()
	}
	_, in.DistinctTimes = t.gaps()
	in.GapCV = t.gapCV()
	in.Input = t.lengths(func(r *Request) int { return r.Input })
	in.Output = t.lengths(func(r *Request) int { return r.Output })
	return in
}

func (t *Trace) lengths(of func(*Request) int) Lengths {
	v := make([]int, len(t.Requests))
	sum := 0.0
	for i := range v {
		v[i] = of(&t.Requests[i])
		sum += float64(v[i])
	}
	slices.Sort(v)
	rank := func(percent int) int { return v[max((len(v)*percent+99)/100, 1)-1] }
	return Lengths{Mean: sum / float64(len(v)), P50: rank(50), P99: rank(99), Max: v[len(v)-1]}
}

func (t *Trace) gapCV() float64 {
	n := float64(len(t.Requests) - 1)
	if n < 1 {
		return 0
	}
	mean := (t.Requests[len(t.Requests)-1].At - t.Requests[0].At).Seconds() / n
	if mean == 0 {
		return 0
	}
	squares := 0.0
	for i := 1; i < len(t.Requests); i++ {
		d := (t.Requests[i].At - t.Requests[i-1].At).Seconds() - mean
		squares += d * d
	}
	return math.Sqrt(squares/n) / mean
}

func (t *Trace) reuse() (u Reuse) {
	before := map[uint64]uint64{} // block -> its predecessor when first met
	firsts := map[uint64]int{}
	var hitBlocks, hitTokens, prompt, common int
	for i := range t.Requests {
		r := &t.Requests[i]
		salt, previous := t.Scope.salt(r.Session), uint64(0)
		hit, leading := 0, true
		for k, id := range r.Blocks {
			id = mix(id^salt, 0)
			was, seen := before[id]
			switch {
			case !seen:
				before[id] = previous
				leading = false
			case was != previous:
				u.Unchained++
			}
			if leading {
				hit++
			}
			if k == 0 {
				firsts[id]++
				common = max(common, firsts[id])
			}
			previous = id
		}
		hitBlocks += hit
		hitTokens += min(hit*t.BlockTokens, r.Input)
		prompt += r.Input
		u.BlockRefs += len(r.Blocks)
	}
	u.DistinctBlocks = len(before)
	u.BlockHit = share(hitBlocks, u.BlockRefs)
	u.TokenHit = share(hitTokens, prompt)
	u.FirstBlock = share(common, len(t.Requests))
	return u
}

func (t *Trace) turns() (s Sessions) {
	turns := map[uint64]int{}
	followUps := 0
	for i := range t.Requests {
		id := t.Requests[i].Session
		if id == 0 {
			continue
		}
		turns[id]++
		s.MaxTurns = max(s.MaxTurns, turns[id])
		switch turns[id] {
		case 1:
			s.Count++
		case 2:
			s.MultiTurn++
			followUps++
		default:
			followUps++
		}
	}
	s.FollowUps = share(followUps, len(t.Requests))
	return s
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
