package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"
)

func micro(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// quantile returns the value that a share q of all does not exceed; 0 of none.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// median returns the middle of the values, the mean of the two middle ones of an
// even number; 0 of none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// pairs returns f of the values of two contenders, repeat by repeat.
func pairs(a, b []float64, f func(a, b float64) float64) []float64 {
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = f(a[i], b[i])
	}
	return out
}

func over(a, b float64) float64  { return a / b }
func minus(a, b float64) float64 { return a - b }

// Places of the contenders.
const (
	directly = iota
	nginx
	haproxy
	gatewayd
)

// added returns what a contender adds to a figure of the worker alone.
func added(all []samples, i int, m metric) []float64 {
	return pairs(all[i][m], all[directly][m], minus)
}

// bound is what is asked of gatewayd.
type bound struct {
	what     string
	value    float64
	required float64
	goal     float64 // 0: none beside what is required
}

// bounds returns what is asked, with what was measured.
func bounds(all []samples) []bound {
	ratio := func(m metric) float64 { return median(pairs(all[gatewayd][m], all[nginx][m], over)) }
	return []bound{
		{"CPU of a small request, to nginx", ratio(smallCPU), 2.0, 1.4},
		{"CPU of a request with a 200 KB prompt, to nginx", ratio(largeCPU), 0.9, 0.5},
		{"CPU of a streamed event, to nginx", ratio(eventCPU), 1.8, 1.3},
		{"added p50 at half load, to nginx", median(pairs(added(all, gatewayd, half50), added(all, nginx, half50), over)), 1.6, 1.2},
		{"first event after direct, ms (p50)", median(added(all, gatewayd, firstEvent)) / 1e3, 0.3, 0},
		{"memory with 10,000 idle streams, MB", median(all[gatewayd][idleMemory]), 512, 0},
	}
}

// columns of the table of medians.
var columns = []struct {
	title string
	of    func(all []samples, i int) float64
}{
	{"small/s", plain(smallRate)},
	{"CPU µs", plain(smallCPU)},
	{"half load/s", plain(halfRate)},
	{"added p50 µs", less(half50)},
	{"p99 µs", less(half99)},
	{"200 KB/s", plain(largeRate)},
	{"CPU µs", plain(largeCPU)},
	{"events/s", plain(eventRate)},
	{"CPU µs", plain(eventCPU)},
	{"first µs", plain(firstEvent)},
	{"idle MB", plain(idleMemory)},
}

func plain(m metric) func([]samples, int) float64 {
	return func(all []samples, i int) float64 { return median(all[i][m]) }
}

func less(m metric) func([]samples, int) float64 {
	return func(all []samples, i int) float64 { return median(added(all, i, m)) }
}

// report prints the medians of all contenders, and how gatewayd stands to what is
// asked of it. A ratio is the median of the repeats' ratios.
func report(out io.Writer, contenders []*contender, all []samples) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\t")
	for _, c := range columns {
		fmt.Fprint(t, c.title, "\t")
	}
	fmt.Fprintln(t)
	for i, c := range contenders {
		fmt.Fprint(t, c.name, "\t")
		for _, column := range columns {
			fmt.Fprintf(t, "%.*f\t", digits(column.of(all, i)), column.of(all, i))
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "gatewayd\tmeasured\trequired\tgoal\t")
	for _, b := range bounds(all) {
		goal := ""
		if b.goal > 0 {
			goal = fmt.Sprint(b.goal)
		}
		fmt.Fprintf(t, "%s\t%.*f\t%v\t%s\t\n", b.what, max(2, digits(b.value)), b.value, b.required, goal)
	}
	return t.Flush()
}

// digits returns how many digits behind the point a figure deserves.
func digits(v float64) int {
	switch v = math.Abs(v); {
	case v > 0 && v < 1:
		return 3
	case v < 100:
		return 1
	}
	return 0
}
