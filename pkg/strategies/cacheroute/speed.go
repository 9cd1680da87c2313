package cacheroute

import (
	"math"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
)

const (
	// spoken is the number of requests that a worker's smoothed latency stands on at
	// one request per second: their weight is halved every 30 s.
	spoken = 30 / math.Ln2
	// clear is how many standard errors the latency of one worker must be off for
	// workers to count as unequal, or half as many the root mean square of all.
	// Latencies spread about as much as their mean.
	clear = 4
	// fastest bounds how much faster than the mean a worker counts, and how much
	// slower.
	fastest = 4
	// steady is the time in seconds in which half of what was taken for the speed is
	// forgotten.
	steady = 120
	// alike is the difference below which all workers count as equal again.
	alike = 1.1
)

// speeds is how much work each worker does in a time, on average 1; nil if all do
// the same. The mean latency of all workers by a worker's own tells. A request is
// slower where more of them run at once, so load that goes where there is speed
// brings latencies together and never reverses them. Of the differences that part
// is left out which chance makes (Stein's shrinkage), and what was believed before
// goes slowly.
func speeds(in router.PlanInput) []float64 {
	latencies, observed := planner.Latencies(in.Fleet.Workers)
	n := float64(len(latencies))
	each := in.TotalRate / n * spoken
	known := observed > 1 && each >= 1
	believed, age := previousSpeeds(in)
	if !known && believed == nil {
		return nil
	}
	logs := make([]float64, len(latencies))
	if known {
		for w, s := range latencies {
			logs[w] = -math.Log(s)
		}
		spread, most := centre(logs)
		if believed == nil && spread*each < clear*clear/4 && most*most*each < clear*clear {
			return nil
		}
		shrink := max(0, 1-1/(spread*each))
		for w := range logs {
			logs[w] *= shrink
		}
	}
	if believed != nil {
		kept := math.Exp2(-age / steady)
		for w := range logs {
			logs[w] = kept*math.Log(believed[w]) + (1-kept)*logs[w]
		}
	}
	if _, most := centre(logs); most < math.Log(alike) {
		return nil
	}
	sum := 0.0
	for w, l := range logs {
		logs[w] = min(max(math.Exp(l), 1.0/fastest), fastest)
		sum += logs[w]
	}
	for w := range logs {
		logs[w] *= n / sum
	}
	return logs
}

// centre takes the mean off all values and returns their variance and the largest
// of them, signs aside.
func centre(values []float64) (variance, most float64) {
	n, mean := float64(len(values)), 0.0
	for _, v := range values {
		mean += v / n
	}
	for i := range values {
		values[i] -= mean
		variance += values[i] * values[i] / n
		most = max(most, math.Abs(values[i]))
	}
	return variance, most
}

// previousSpeeds are those of the plan before, by the present workers, and its age
// in seconds; nil if it knew of none. A worker that is new counts as the mean.
func previousSpeeds(in router.PlanInput) (speeds []float64, age float64) {
	p := in.Previous
	if p == nil || len(p.Speeds) == 0 || len(p.Speeds) != len(p.Workers) {
		return nil, 0
	}
	of := make(map[router.WorkerRef]float64, len(p.Workers))
	for i, ref := range p.Workers {
		if s := p.Speeds[i]; s >= 1.0/fastest/fastest && s <= fastest*fastest {
			of[ref] = s
		}
	}
	for _, w := range in.Fleet.Workers {
		s, ok := of[router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation}]
		if !ok {
			s = 1
		}
		speeds = append(speeds, s)
	}
	return speeds, max(0, in.PreviousAge.Seconds())
}
