package estimator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const second = int64(time.Second)

// naive is the slow twin: it decays every key at every step and scans.
type naive struct {
	halfLife float64
	limit    int
	count    map[uint64]float64
	last     map[uint64]int64
}

func (n *naive) record(now int64, key uint64) {
	if _, ok := n.count[key]; !ok && len(n.count) == n.limit {
		var low uint64
		best := math.Inf(1)
		for k := range n.count {
			v := math.Log2(n.count[k]) + float64(n.last[k])/n.halfLife
			if v < best || v == best && k < low {
				low, best = k, v
			}
		}
		delete(n.count, low)
		delete(n.last, low)
	}
	n.count[key] = n.count[key]*math.Exp2(-float64(now-n.last[key])/n.halfLife) + 1
	n.last[key] = now
}

func TestRatesAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := NewRates(20*time.Second, 30)
	n := &naive{halfLife: 20e9, limit: 30, count: map[uint64]float64{}, last: map[uint64]int64{}}
	now := int64(0)
	for range 20000 {
		now += rng.Int64N(second)
		key := uint64(rng.ExpFloat64() * 20)
		r.Record(now, key, 100)
		n.record(now, key)
		if rng.IntN(500) == 0 {
			drop := uint64(rng.IntN(20))
			r.Forget(drop)
			delete(n.count, drop)
			delete(n.last, drop)
		}
		if r.Len() != len(n.count) {
			t.Fatalf("tracks %d keys, the twin %d", r.Len(), len(n.count))
		}
	}
	for key, c := range n.count {
		want := c * math.Exp2(-float64(now-n.last[key])/20e9) * math.Ln2 / 20
		if got := r.Rate(now, key); math.Abs(got-want) > 1e-9*want {
			t.Errorf("key %d: rate %v, twin %v", key, got, want)
		}
	}
}

func TestRateConverges(t *testing.T) {
	r := NewRates(10*time.Second, 10)
	var m Mean
	m.HalfLife = 10 * time.Second
	for i := range int64(2000) {
		r.Record(i*second/4, 7, 200)
		m.Observe(i*second/4, 1)
	}
	now := int64(2000) * second / 4
	if got := r.Rate(now, 7); math.Abs(got-4) > 0.1 {
		t.Errorf("four requests a second: rate %v", got)
	}
	if got := m.Rate(now); math.Abs(got-4) > 0.1 {
		t.Errorf("four requests a second: mean's rate %v", got)
	}
	s := r.Snapshot(now, 0)
	if len(s) != 1 || math.Abs(s[0].Tokens-200) > 1e-9 {
		t.Errorf("snapshot %v, want one key with 200 tokens", s)
	}
	if half := r.Rate(now+10*second, 7); math.Abs(half-2) > 0.05 {
		t.Errorf("after one silent half-life: rate %v, want 2", half)
	}
	if len(r.Snapshot(now, 100)) != 0 {
		t.Error("the floor kept a slow key")
	}
}

func TestMergeIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	parts := []*Rates{NewRates(time.Minute, 1000), NewRates(time.Minute, 1000), NewRates(time.Minute, 1000)}
	whole := NewRates(time.Minute, 1000)
	now := int64(0)
	for range 5000 {
		now += rng.Int64N(second)
		key, tokens := rng.Uint64N(50), rng.IntN(1000)
		parts[rng.IntN(3)].Record(now, key, tokens)
		whole.Record(now, key, tokens)
	}
	got := Merge(parts[0].Snapshot(now, 0), parts[1].Snapshot(now, 0), parts[2].Snapshot(now, 0))
	want := whole.Snapshot(now, 0)
	if !slices.EqualFunc(got, want, func(a, b Rate) bool {
		return a.Key == b.Key && math.Abs(a.PerSecond-b.PerSecond) < 1e-9*b.PerSecond && math.Abs(a.Tokens-b.Tokens) < 1e-6*b.Tokens
	}) {
		t.Errorf("three gateways' rates do not add up to the whole")
	}
}

func TestMean(t *testing.T) {
	var m Mean
	if _, ok := m.Value(); ok {
		t.Error("an empty mean has a value")
	}
	m.HalfLife = time.Second
	m.Observe(0, 10)
	m.Observe(0, math.NaN())
	m.Observe(second, 40)
	if v, _ := m.Value(); math.Abs(v-30) > 1e-9 {
		t.Errorf("mean %v, want (10*0.5+40)/1.5 = 30", v)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := NewRates(time.Minute, 1<<20)
	rng := rand.New(rand.NewPCG(1, 1))
	keys := make([]uint64, 1<<16)
	for i := range keys {
		keys[i] = rng.Uint64N(100_000)
	}
	b.ReportAllocs()
	for i := range b.N {
		r.Record(int64(i)*1000, keys[i&(1<<16-1)], 100)
	}
}

func TestMarks(t *testing.T) {
	a, b := NewRates(time.Minute, 10), NewRates(time.Minute, 10)
	a.Record(0, 1, 10)
	a.Record(0, 2, 10)
	a.Record(0, 2, 10)
	b.Record(0, 1, 10)
	b.Record(0, 1, 10)
	b.Record(0, 2, 10)
	a.Mark(1, 7)
	a.Mark(2, 8)
	b.Mark(1, 9)
	a.Mark(99, 5) // not tracked
	merged := Merge(a.Snapshot(0, 0), b.Snapshot(0, 0))
	if len(merged) != 2 || merged[0].Mark != 9 || merged[1].Mark != 8 {
		t.Errorf("merged %+v, want the mark of the higher rate where both have one", merged)
	}
}
