package sim

import (
	"time"

	"gatewayd/benchlab/sim/measure"
	"gatewayd/pkg/router"
)

// series sums the load of lines over time in few buckets, exactly: in
// request-nanoseconds. When the buckets do not reach, two become one.
type series struct {
	start router.Time
	step  router.Time // width of a bucket
	lines []line
}

type line struct {
	load  int64
	since router.Time // since when it has that load
	sums  []int64     // by bucket
}

// init expects a trace of a span, and leaves some room for its end.
func (s *series) init(start router.Time, span time.Duration, lines int) {
	const room = measure.MaxBuckets * 9 / 10
	s.start, s.step = start, max(router.Time(time.Millisecond), router.Time(span)/room+1)
	s.lines = make([]line, lines)
	for i := range s.lines {
		s.lines[i] = line{since: start, sums: make([]int64, measure.MaxBuckets)}
	}
}

// change adds n to a line's load at now.
func (s *series) change(now router.Time, i, n int) {
	if n != 0 {
		s.bring(now, i)
		s.lines[i].load += int64(n)
	}
}

// bring books a line's load up to now.
func (s *series) bring(now router.Time, i int) {
	for now-s.start > s.step*measure.MaxBuckets {
		s.fold()
	}
	x := &s.lines[i]
	for x.load > 0 && x.since < now {
		bucket := (x.since - s.start) / s.step
		until := min(now, s.start+(bucket+1)*s.step)
		x.sums[bucket] += x.load * int64(until-x.since)
		x.since = until
	}
	x.since = max(x.since, now)
}

// fold doubles the width of the buckets.
func (s *series) fold() {
	s.step *= 2
	for i := range s.lines {
		sums := s.lines[i].sums
		for k := range sums {
			if 2*k < len(sums) {
				sums[k] = sums[2*k] + sums[2*k+1]
			} else {
				sums[k] = 0
			}
		}
	}
}

// measured is the series up to now. The last line is the gateways' queues. The
// mean of the last bucket is over the part of it that has passed.
func (s *series) measured(now router.Time) measure.Series {
	now = max(now, s.start+1)
	for i := range s.lines {
		s.bring(now, i)
	}
	buckets := int((now - s.start + s.step - 1) / s.step)
	out := measure.Series{Step: time.Duration(s.step)}
	for i := range s.lines {
		means := make([]float32, buckets)
		for k := range means {
			width := min(s.step, now-s.start-router.Time(k)*s.step)
			means[k] = float32(float64(s.lines[i].sums[k]) / float64(width))
		}
		if i < len(s.lines)-1 {
			out.Load = append(out.Load, means)
		} else {
			out.Queued = means
		}
	}
	return out
}
