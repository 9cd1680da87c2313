package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// errLimit: a limit is not kept.
var errLimit = errors.New("a limit is not kept")

// verdict is a figure and the most that it may be.
type verdict struct {
	what     string
	is, most float64
}

// verdicts prints them and fails if one is not kept.
func verdicts(out io.Writer, all ...verdict) (err error) {
	fmt.Fprintln(out)
	for _, v := range all {
		says := "kept"
		if !(v.is <= v.most) {
			says = "NOT kept"
			err = errors.Join(err, fmt.Errorf("%w: %s is %.3g, at most %.3g is allowed", errLimit, v.what, v.is, v.most))
		}
		fmt.Fprintf(out, "%s: %.3g of at most %.3g, %s\n", v.what, v.is, v.most, says)
	}
	fmt.Fprintln(out)
	return err
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// share writes a as a part of b.
func share(a, b time.Duration) string {
	if a <= 0 || b <= 0 {
		return "-"
	}
	return fmt.Sprintf("1/%.1f", ratio(b, a))
}

func short(d time.Duration) time.Duration {
	if d > time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(10 * time.Nanosecond)
}

// middle is the median.
func middle[T ~int64 | ~float64](all []T) T {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

// medians takes the median of each figure.
func medians(all []figures) figures {
	pick := func(f func(figures) time.Duration) time.Duration {
		var values []time.Duration
		for _, x := range all {
			values = append(values, f(x))
		}
		return middle(values)
	}
	var rates, inTime []float64
	for _, x := range all {
		rates, inTime = append(rates, x.rate), append(inTime, x.inTime)
	}
	return figures{
		p50: pick(func(f figures) time.Duration { return f.p50 }), p99: pick(func(f figures) time.Duration { return f.p99 }),
		cpu:  pick(func(f figures) time.Duration { return f.cpu }),
		rate: middle(rates), inTime: middle(inTime),
	}
}
