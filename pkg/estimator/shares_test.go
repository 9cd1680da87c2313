package estimator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestShares runs the scripts of testdata/shares. KEY*N stands for a key N times,
// (KEY KEY)*N for a sequence, A-B for a range of keys.
func TestShares(t *testing.T) {
	datadriven.Walk(t, "testdata/shares", func(t *testing.T, path string) {
		var s *Shares
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "new":
				halfLife, limit := "20", DefaultLimit
				d.MaybeScanArgs(t, "half-life", &halfLife)
				d.MaybeScanArgs(t, "limit", &limit)
				h, err := strconv.ParseFloat(halfLife, 64)
				if err != nil {
					t.Fatal(err)
				}
				if s, err = NewShares(h, limit); err != nil {
					return "error: " + err.Error() + "\n"
				}
				return ""
			case "record":
				for _, key := range sequence(t, d.Input) {
					s.Record(key)
				}
				return ""
			case "forget":
				for _, key := range sequence(t, d.Input) {
					s.Forget(key)
				}
				return ""
			case "show":
				return show(t, s, d.Input)
			}
			t.Fatalf("unknown command %q", d.Cmd)
			return ""
		})
	})
}

func show(t *testing.T, s *Shares, what string) string {
	if what == "count" {
		return fmt.Sprintln(s.Len(), "keys")
	}
	var b strings.Builder
	for _, key := range sequence(t, what) {
		fmt.Fprintf(&b, "%d: %.6f\n", key, s.Count(key))
	}
	if what == "" {
		for _, c := range s.Counts() {
			fmt.Fprintf(&b, "%d: %.6f\n", c.Key, c.Count)
		}
	}
	return b.String()
}

func sequence(t *testing.T, text string) (keys []uint64) {
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if inner, times, ok := strings.Cut(text, ")*"); ok {
		once := sequence(t, strings.TrimLeft(inner, " ("))
		for range number(times) {
			keys = append(keys, once...)
		}
		return keys
	}
	for field := range strings.FieldsSeq(text) {
		key, times, repeated := strings.Cut(field, "*")
		if !repeated {
			times = "1"
		}
		from, to, ranged := strings.Cut(key, "-")
		if !ranged {
			to = from
		}
		for range number(times) {
			for k := number(from); k <= number(to); k++ {
				keys = append(keys, uint64(k))
			}
		}
	}
	return keys
}

// TestSharesLikeTwin compares with counts that decay one by one at every tick and
// with a scan for the least.
func TestSharesLikeTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, limit := range []int{1, 2, 7, 40} {
		const halfLife = 23.7
		s, err := NewShares(halfLife, limit)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[uint64]float64{}
		for step := range 2500 {
			key := uint64(rng.ExpFloat64() * 30)
			s.Record(key)
			for k := range counts {
				counts[k] *= math.Pow(0.5, 1/halfLife)
			}
			if _, ok := counts[key]; !ok && len(counts) == limit {
				least, first := uint64(0), true
				for k, c := range counts {
					if first || c < counts[least] {
						least, first = k, false
					}
				}
				delete(counts, least)
			}
			counts[key]++
			if len(counts) != s.Len() {
				t.Fatalf("limit %d, step %d: %d keys, the twin has %d", limit, step, s.Len(), len(counts))
			}
		}
		for _, c := range s.Counts() {
			if want := counts[c.Key]; math.Abs(c.Count-want) > 1e-9*want {
				t.Errorf("limit %d: key %d counts %v, the twin %v", limit, c.Key, c.Count, want)
			}
		}
	}
}

// TestSharesMerge measures what adding up two gateways' global-clock estimates
// costs. Each has a clock of its own, so a request's weight depends on how the
// traffic was split since: if one gateway's part of any stretch of requests is
// off its share by at most d requests, weights are off by at most a factor
// 2^(d / its half-life), and so is the sum.
func TestSharesMerge(t *testing.T) {
	const halfLife, requests = 4000.0, 60_000
	for _, split := range []string{"in turns", "by chance"} {
		rng := rand.New(rand.NewPCG(9, 10))
		draw := zipf(rng, 500, 1.1)
		whole, _ := NewShares(halfLife, DefaultLimit)
		a, _ := NewShares(halfLife/2, DefaultLimit)
		b, _ := NewShares(halfLife/2, DefaultLimit)
		drift, lowest, highest := 0, 0, 0
		for i := range requests {
			key := draw()
			whole.Record(key)
			if toA := split == "in turns" && i%2 == 0 || split != "in turns" && rng.IntN(2) == 0; toA {
				a.Record(key)
				drift++
			} else {
				b.Record(key)
				drift--
			}
			if i >= requests-10*halfLife {
				lowest, highest = min(lowest, drift), max(highest, drift)
			}
		}
		d := float64(highest-lowest) / 2 // requests of one gateway off its half
		bound := math.Exp2(d/(halfLife/2)) - 1
		worst := 0.0
		merged := Merge(a.Rates(50), b.Rates(50))
		truth := whole.Rates(100)
		for i, want := range truth {
			if merged[i].Key != want.Key {
				t.Fatalf("%s: the merged estimate has key %d where the whole has %d", split, merged[i].Key, want.Key)
			}
			// The two forms of the rate differ by what a half-life of half the
			// length rounds to.
			worst = max(worst, math.Abs(merged[i].PerSecond/want.PerSecond-1))
		}
		t.Logf("%s: worst relative error %.5f, bound %.5f", split, worst, bound)
		if worst > bound+1e-3 {
			t.Errorf("%s: worst relative error %.5f, more than %.5f", split, worst, bound)
		}
	}
}
