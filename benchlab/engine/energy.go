package engine

import "time"

// energy is the time spent in steps of each number of sequences. What they cost
// is summed up when it is asked for, so that it does not depend on how many steps
// were booked at once.
type energy struct {
	busy  []time.Duration // by sequences
	watts []float64       // likewise; 0 if unknown
}

// add books steps over seqs sequences.
func (x *energy) add(p Power, seqs int, took time.Duration) {
	for seqs >= len(x.busy) {
		x.watts = append(x.watts, p.Watts(len(x.busy)).Or(0))
		x.busy = append(x.busy, 0)
	}
	x.busy[seqs] += took
}

func (x *energy) joules() float64 {
	joules := 0.0
	for seqs, busy := range x.busy {
		joules += float64(x.watts[seqs] * busy.Seconds())
	}
	return joules
}
