package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// result is what a line has shown. It may be written to by many at once.
type result struct {
	mu       sync.Mutex
	measured []string
	broken   []string // what went another way than it must
	over     []string // figures that are over their limit
}

// mostBroken bounds what is kept of what went wrong.
const mostBroken = 10

func (r *result) measure(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measured = append(r.measured, fmt.Sprintf(format, args...))
}

func (r *result) breaks(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.broken) < mostBroken {
		r.broken = append(r.broken, fmt.Sprintf(format, args...))
	}
}

// exceeds notes a figure that is over its limit.
func (r *result) exceeds(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = append(r.over, fmt.Sprintf(format, args...))
}

// within holds a time to its limit.
func (r *result) within(what string, took, limit time.Duration) {
	if took > limit {
		r.exceeds("%s: %s, limit %s", what, milli(took), milli(limit))
	}
}

// times are durations that many add to.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (t *times) add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, d)
}

// quantile returns the time that a share q of all does not exceed; 0 of none.
func (t *times) quantile(q float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t.all))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// String gives the median, the 99th percentile and the most.
func (t *times) String() string {
	return fmt.Sprintf("%s, %s, %s", milli(t.quantile(0.5)), milli(t.quantile(0.99)), milli(t.quantile(1)))
}

// milli writes a time in milliseconds.
func milli(d time.Duration) string {
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}
