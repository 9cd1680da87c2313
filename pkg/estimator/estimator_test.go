package estimator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const second = int64(time.Second)

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
	if len(s) != 1 || s[0].Tokens != 200 {
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
	for range 20_000 { // the landmark moves twice
		now += rng.Int64N(second)
		key, tokens := rng.Uint64N(50), rng.IntN(1000)
		parts[rng.IntN(3)].Record(now, key, tokens)
		whole.Record(now, key, tokens)
	}
	got := Merge(parts[0].Snapshot(now, 0), parts[1].Snapshot(now, 0), parts[2].Snapshot(now, 0))
	want := whole.Snapshot(now, 0)
	if !slices.EqualFunc(got, want, func(a, b Rate) bool {
		return a.Key == b.Key && math.Abs(a.PerSecond-b.PerSecond) < 1e-12*b.PerSecond && math.Abs(a.Tokens-b.Tokens) < 1e-5*b.Tokens
	}) {
		t.Errorf("three gateways' rates do not add up to the whole:\n%v\n%v", got, want)
	}
}

// TestMergeKeepsAll has keys that only one gateway has, in the middle and at both ends.
func TestMergeKeepsAll(t *testing.T) {
	a := []Rate{{Key: 2, PerSecond: 1}, {Key: 5, PerSecond: 2, Tokens: 10}}
	b := []Rate{{Key: 1, PerSecond: 4}, {Key: 5, PerSecond: 6, Tokens: 30}, {Key: 7, PerSecond: 8}, {Key: 9}}
	want := []Rate{{Key: 1, PerSecond: 4}, {Key: 2, PerSecond: 1}, {Key: 5, PerSecond: 8, Tokens: 25}, {Key: 7, PerSecond: 8}, {Key: 9}}
	for _, got := range [][]Rate{Merge(a, b), Merge(b, a), Merge(nil, b, nil, a)} {
		if !slices.Equal(got, want) {
			t.Errorf("merged %v, want %v", got, want)
		}
	}
	if got := Merge(); len(got) != 0 {
		t.Errorf("nothing makes %v", got)
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

// TestRatioIsOfMeans compares with two means of the same observations.
func TestRatioIsOfMeans(t *testing.T) {
	q, part, whole := Ratio{HalfLife: time.Second}, Mean{HalfLife: time.Second}, Mean{HalfLife: time.Second}
	if _, ok := q.Value(); ok {
		t.Error("an empty ratio has a value")
	}
	rng := rand.New(rand.NewPCG(1, 7))
	now := int64(0)
	for range 1000 {
		now += rng.Int64N(second)
		a, b := rng.Float64(), 1+rng.Float64()
		q.Observe(now, a, b)
		part.Observe(now, a)
		whole.Observe(now, b)
		for _, odd := range [][2]float64{{-1, 1}, {1, 0}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
			q.Observe(now, odd[0], odd[1])
		}
		p, _ := part.Value()
		w, _ := whole.Value()
		if got, ok := q.Value(); !ok || got != p/w {
			t.Fatalf("ratio %v, want %v", got, p/w)
		}
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

func TestTokensPerByte(t *testing.T) {
	var p TokensPerByte
	p.Observe(0, 1000)
	p.Observe(-5, 1000)
	p.Observe(50, 63) // mostly template
	if p.Value() != DefaultTokensPerByte {
		t.Errorf("%v learned from nothing", p.Value())
	}
	p.Observe(300, 1000)
	if p.Value() != 0.3 {
		t.Errorf("%v, want the first ratio", p.Value())
	}
	p.Observe(1_000_000, 100) // an image
	if got, want := p.Value(), 0.3+(4-0.3)/32; got != want {
		t.Errorf("%v, want %v: a ratio that cannot be is bounded", got, want)
	}
	for range 500 {
		p.Observe(500, 1000)
	}
	if math.Abs(p.Value()-0.5) > 1e-6 {
		t.Errorf("%v, want it to follow a new tokenizer", p.Value())
	}
}

func TestExp2(t *testing.T) {
	worst := 0.0
	for i := -100_000; i <= 100_000; i++ {
		x := float64(i) / 100_000 * 2 * near
		worst = max(worst, math.Abs(exp2(x)/math.Exp2(x)-1))
	}
	if worst > 5e-16 {
		t.Errorf("relative error %v", worst)
	}
	if !math.IsNaN(exp2(math.NaN())) || exp2(math.Inf(-1)) != 0 || exp2(0) != 1 {
		t.Error("exp2 of odd numbers")
	}
}
