package replay

import (
	"container/heap"
	"fmt"
	"time"

	"gatewayd/benchlab/trace"
)

// Timing says what a request's sending waits for.
type Timing string

// The timings of a replay.
const (
	Recorded Timing = "recorded" // every request at its recorded arrival
	Sessions Timing = "sessions" // a turn after the answers that it builds on, plus think time
)

// due is a row and when it is to be sent, from the start of the replay in wall
// time.
type due struct {
	at  time.Duration
	row int32
}

// schedule is what is to be sent next. It is pure: time comes in as a value.
type schedule struct {
	trace    *trace.Trace
	dilation float64 // wall seconds per second of the trace
	heap     dueHeap
	left     []int32         // per row: answers that it still waits for; nil with recorded timing
	ready    []time.Duration // per row: the last of those that came
	next     [][]int32       // per row: rows that wait for its answer
}

// newSchedule enters all rows that wait for nothing.
func newSchedule(t *trace.Trace, timing Timing, dilation float64) (*schedule, error) {
	s := &schedule{trace: t, dilation: dilation, heap: make(dueHeap, 0, len(t.Requests))}
	if timing == Sessions {
		n := len(t.Requests)
		s.left, s.ready, s.next = make([]int32, n), make([]time.Duration, n), make([][]int32, n)
	}
	for row := range t.Requests {
		r := &t.Requests[row]
		if timing == Sessions && len(r.After) > 0 {
			s.left[row] = int32(len(r.After))
			for _, before := range r.After {
				if before < 0 || int(before) >= row {
					return nil, fmt.Errorf("replay: %s: request %d waits for request %d, which does not come before it", t.Name, row, before)
				}
				s.next[before] = append(s.next[before], int32(row))
			}
			continue
		}
		s.heap = append(s.heap, due{s.wall(r.At), int32(row)})
	}
	heap.Init(&s.heap)
	return s, nil
}

// wall turns a span of the trace into wall time.
func (s *schedule) wall(d time.Duration) time.Duration {
	return time.Duration(float64(d) * s.dilation)
}

// first returns what is to be sent next, unless nothing is known of now.
func (s *schedule) first() (due, bool) {
	if len(s.heap) == 0 {
		return due{}, false
	}
	return s.heap[0], true
}

// pop takes it off.
func (s *schedule) pop() { heap.Pop(&s.heap) }

// ended tells that a row's answer ended at a time, well or not: what waits for it
// comes after its think time.
func (s *schedule) ended(row int32, at time.Duration) {
	if s.next == nil {
		return
	}
	for _, n := range s.next[row] {
		s.ready[n] = max(s.ready[n], at)
		if s.left[n]--; s.left[n] == 0 {
			heap.Push(&s.heap, due{s.ready[n] + s.wall(s.trace.Requests[n].Think), n})
		}
	}
}

// dueHeap is a heap of rows by time, and among equal times by row.
type dueHeap []due

// Len implements heap.Interface.
func (h dueHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h dueHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].row < h[j].row
}

// Swap implements heap.Interface.
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) { *h = append(*h, x.(due)) }

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
