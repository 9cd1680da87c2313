package estimator

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// naive is the slow twin of Rates: maps, whole scans, and weights as powers of
// two since time zero.
type naive struct {
	limit int
	rows  map[uint64]*naiveRow
	lost  float64
}

type naiveRow struct{ weight, lost, tokens float64 }

func (n *naive) record(now int64, key uint64, tokens int, halfLife time.Duration) {
	w := math.Exp2(float64(now) / float64(halfLife))
	row := n.rows[key]
	if row == nil {
		if len(n.rows) == n.limit {
			var keys []uint64
			for k := range n.rows {
				keys = append(keys, k)
			}
			out := slices.MinFunc(keys, func(a, b uint64) int {
				return cmp.Or(cmp.Compare(n.rows[a].weight, n.rows[b].weight), cmp.Compare(scramble(a), scramble(b)))
			})
			n.lost = max(n.lost, n.rows[out].weight)
			delete(n.rows, out)
		}
		lost := float64(roundUp(n.lost))
		row = &naiveRow{weight: lost, lost: lost}
		n.rows[key] = row
	}
	row.weight += w
	row.tokens += w * float64(tokens)
}

func TestRatesLikeTwin(t *testing.T) {
	for _, halfLife := range []time.Duration{20 * time.Second, 3 * time.Second} { // with the second the landmark moves
		for _, limit := range []int{1, 2, 9, 10, 30, 3000} {
			likeTwin(t, halfLife, limit)
		}
	}
}

func likeTwin(t *testing.T, halfLife time.Duration, limit int) {
	rng := rand.New(rand.NewPCG(1, uint64(limit)))
	r, n := NewRates(halfLife, limit), &naive{limit: limit, rows: map[uint64]*naiveRow{}}
	now := int64(0)
	for range 6000 {
		if rng.IntN(4) > 0 { // some at the same time
			now += rng.Int64N(second / 8)
		}
		key, tokens := uint64(rng.ExpFloat64()*40), rng.IntN(500)
		if limit > 1000 {
			key = rng.Uint64N(3500)
		}
		r.Record(now, key, tokens)
		n.record(now, key, tokens, halfLife)
		if rng.IntN(200) == 0 {
			drop := uint64(rng.IntN(40))
			r.Forget(drop)
			delete(n.rows, drop)
		}
		if r.Len() != len(n.rows) {
			t.Fatalf("limit %d: %d keys tracked, the twin has %d", limit, r.Len(), len(n.rows))
		}
	}
	perSecond := math.Ln2 / halfLife.Seconds() / math.Exp2(float64(now)/float64(halfLife))
	snapshot := r.Snapshot(now, 0)
	if len(snapshot) != len(n.rows) {
		t.Fatalf("limit %d: %d keys in the snapshot, the twin has %d", limit, len(snapshot), len(n.rows))
	}
	for _, got := range snapshot {
		row := n.rows[got.Key]
		if row == nil {
			t.Fatalf("limit %d: key %d is not the twin's", limit, got.Key)
		}
		seen := row.weight - row.lost
		near := func(got, want, by float64) bool { return math.Abs(got-want) <= by*want }
		if want := seen * perSecond; !near(got.PerSecond, want, 1e-6) || r.Rate(now, got.Key) != got.PerSecond {
			t.Errorf("limit %d: key %d: rate %v and %v, twin %v", limit, got.Key, got.PerSecond, r.Rate(now, got.Key), want)
		}
		if want := row.tokens / seen; !near(got.Tokens, want, 1e-4) && math.Abs(got.Tokens-want) > 1e-9 {
			t.Errorf("limit %d: key %d: %v tokens, twin %v", limit, got.Key, got.Tokens, want)
		}
	}
}

// TestEvictionErrorIsBounded compares with counts that nothing was dropped from:
// what the bound promises, and how much better the truth is.
func TestEvictionErrorIsBounded(t *testing.T) {
	const limit, keys = 200, 5_000
	for _, skew := range []float64{0.8, 1.1, 1.4} {
		rng := rand.New(rand.NewPCG(5, uint64(10*skew)))
		draw := zipf(rng, keys, skew)
		r, all := NewRates(time.Minute, limit), NewRates(time.Minute, keys)
		now := int64(0)
		for range 50_000 {
			now += rng.Int64N(second / 50)
			key := draw()
			r.Record(now, key, 100)
			all.Record(now, key, 100)
		}
		if all.Floor(now) != 0 {
			t.Fatal("a floor without a dropped key")
		}
		total, worst, hot, exact := 0.0, 0.0, 0, 0
		truth := all.Snapshot(now, 0)
		for _, want := range truth {
			total += want.PerSecond
		}
		floor := r.Floor(now)
		for _, want := range truth {
			got := r.Rate(now, want.Key)
			if got > want.PerSecond*(1+1e-9) || want.PerSecond-got > floor*(1+1e-6) {
				t.Errorf("skew %v: key %d: rate %v, true %v, floor %v", skew, want.Key, got, want.PerSecond, floor)
			}
			if worst = max(worst, want.PerSecond-got); want.PerSecond <= total/limit {
				continue
			}
			if hot++; got == 0 {
				t.Errorf("skew %v: key %d has %v of %v req/s and is not tracked", skew, want.Key, want.PerSecond, total)
			}
			if got > 0.999*want.PerSecond {
				exact++
			}
		}
		if floor > total/limit*(1+1e-6) {
			t.Errorf("skew %v: floor %v, more than %v of a total of %v", skew, floor, total/limit, total)
		}
		t.Logf("skew %v: total %.1f req/s, bound %.4f, floor %.4f, worst error %.4f; of %d keys above the bound %d within 0.1 %%",
			skew, total, total/limit, floor, worst, hot, exact)
	}
}

func zipf(rng *rand.Rand, keys int, skew float64) (draw func() uint64) {
	sum, cumulative := 0.0, make([]float64, keys)
	for rank := range cumulative {
		sum += math.Pow(float64(rank+1), -skew)
		cumulative[rank] = sum
	}
	return func() uint64 {
		at, _ := slices.BinarySearch(cumulative, sum*rng.Float64())
		return uint64(at)
	}
}

// TestAlternatingNewKeys is what evicting the coldest key gets wrong: two new
// keys that drop one another in turns are never seen to be hot.
func TestAlternatingNewKeys(t *testing.T) {
	r := NewRates(time.Minute, 10)
	for key := range uint64(10) {
		for range 100 {
			r.Record(0, key, 1)
		}
	}
	for i := range uint64(500) {
		r.Record(0, 100+i%2, 1)
	}
	if a, b := r.Rate(0, 100), r.Rate(0, 101); min(a, b) < 249*r.perSecond() {
		t.Errorf("rates of %v and %v after 250 requests each, one request is %v", a, b, r.perSecond())
	}
}

// TestTimesAreOdd holds that any times are survived and that none brings a count
// to infinity.
func TestTimesAreOdd(t *testing.T) {
	times := []int64{0, math.MinInt64, math.MaxInt64, -1, 1, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 60, -(1 << 60)}
	for i := range times {
		r := NewRates(time.Second, 3)
		for j := range times {
			r.Record(times[(i+j)%len(times)], uint64(j%5), 10)
			for _, now := range times {
				for key := range uint64(5) {
					if v := r.Rate(now, key); !(v >= 0 && v <= float64(len(times))) {
						t.Fatalf("start %d, step %d: rate %v at %d", i, j, v, now)
					}
				}
				if f := r.Floor(now); !(f >= 0 && f <= float64(len(times))) {
					t.Fatalf("start %d, step %d: floor %v at %d", i, j, f, now)
				}
			}
		}
	}
}

// TestRatesOutOfRange has half-lives, limits and prompts that cannot be.
func TestRatesOutOfRange(t *testing.T) {
	for _, r := range []*Rates{NewRates(0, 0), NewRates(-time.Hour, -5)} {
		r.Record(0, 1, 10)
		r.Record(0, 2, -10)
		if s := r.Snapshot(0, 0); r.HalfLife() != time.Second || len(s) != 1 || s[0] != (Rate{Key: 2, PerSecond: math.Ln2}) {
			t.Errorf("half-life %v, snapshot %v, want 1s and one key without tokens", r.HalfLife(), s)
		}
	}
	if r := NewRates(time.Minute, math.MaxInt); r.limit != maxRows {
		t.Errorf("a limit of %d keys, want %d", r.limit, maxRows)
	}
}

// TestSilentKeysSurvive holds that moving the landmark changes no rate.
func TestSilentKeysSurvive(t *testing.T) {
	r := NewRates(time.Second, 10)
	r.Record(0, 1, 10)
	for i := range int64(1000) {
		r.Record(i*second, 2, 10)
	}
	if got, want := r.Rate(999*second, 1), math.Exp2(-999)*math.Ln2; math.Abs(got-want) > 1e-9*want {
		t.Errorf("rate %v after 999 half-lives, want %v", got, want)
	}
	r.Record(5000*second, 2, 10)
	if got := r.Rate(5000*second, 1); got != 0 || r.Len() != 2 {
		t.Errorf("rate %v after 5000 half-lives, %d keys", got, r.Len())
	}
}

func TestSizeOfRates(t *testing.T) {
	const most = 1 << 16
	r := NewRates(time.Minute, most)
	for i := range most {
		r.Record(int64(i)*1000, scramble(uint64(i)), 100)
		if n := i + 1; n >= 8192 && n%512 == 0 || n == most {
			if per := float64(bytesOf(r)) / float64(n); per > 40 {
				t.Fatalf("%d keys take %.1f bytes each, want at most 40", n, per)
			}
		}
	}
	for i := range 2 * most { // keys make room
		r.Record(int64(most+i)*1000, scramble(uint64(most+i)), 100)
	}
	if per := float64(bytesOf(r)) / most; per > 40 || r.Len() != most {
		t.Errorf("%d keys take %.1f bytes each, want %d and at most 40", r.Len(), per, most)
	}
}

// TestRecordAllocatesNothing holds it for keys that are tracked and for new ones that
// make others drop.
func TestRecordAllocatesNothing(t *testing.T) {
	const most = 10_000
	r, i := NewRates(time.Minute, most), 0
	record := func(keys int) func() {
		return func() {
			for range most {
				r.Record(int64(i)*1000, scramble(uint64(i%keys)), 100)
				i++
			}
		}
	}
	for range 10 { // parts grow, and all that they note about their least rows
		record(3 * most)()
	}
	if n := testing.AllocsPerRun(20, record(3*most)); n != 0 {
		t.Errorf("%v allocations of %d requests whose keys may be new", n, most)
	}
	record(most)()
	if n := testing.AllocsPerRun(20, record(most)); n != 0 {
		t.Errorf("%v allocations of %d requests whose keys are tracked", n, most)
	}
}

// TestTableHoldsCrowds fills a table with keys that all belong to its last places.
func TestTableHoldsCrowds(t *testing.T) {
	r := NewRates(time.Minute, 5000)
	key := func(i int) uint64 { return unscramble(math.MaxUint64 - uint64(i)) }
	for round := range 2 {
		for i := range 3000 {
			r.Record(int64(i)*second/100, key(i), 10*round)
		}
	}
	for i := range 3000 {
		if i%3 > 0 {
			r.Forget(key(i))
		}
	}
	for i := range 3000 {
		if got := r.Rate(30*second, key(i)) > 0; got != (i%3 == 0) {
			t.Fatalf("key %d of a crowd is there: %v", i, got)
		}
	}
	if got := r.Snapshot(30*second, 0); len(got) != 1000 || got[0].Tokens == 0 {
		t.Errorf("%d keys in the snapshot, want 1000: %v", len(got), got[:1])
	}
}

func TestUnscramble(t *testing.T) {
	for i := range uint64(1000) {
		for _, x := range []uint64{i, -i, scramble(i)} {
			if got := unscramble(scramble(x)); got != x {
				t.Fatalf("%d became %d", x, got)
			}
		}
	}
}

// bytesOf is the memory behind an estimate.
func bytesOf(r *Rates) int {
	n := int(reflect.TypeFor[Rates]().Size())
	for i := range r.parts {
		n += int(reflect.TypeFor[row]().Size())*cap(r.parts[i].rows) + int(reflect.TypeFor[candidate]().Size())*cap(r.parts[i].list)
	}
	return n
}
