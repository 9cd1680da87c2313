package trace

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func expander(t testing.TB, tr *Trace, tokens int) Expander {
	t.Helper()
	e, err := tr.Expander(tokens)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Two prompts' small ids agree exactly as far as their large ids do: for every
// small id of the shipped trace, its place (large id, index) is unique.
func TestExpandEqualIDsMeanEqualPrefixes(t *testing.T) {
	tr := mustDefault(t).Cut(300)
	e := expander(t, tr, 16)
	type place struct {
		id    uint64
		index int
	}
	places := map[uint64]place{}
	var buf []uint64
	for i := range tr.Requests {
		r := &tr.Requests[i]
		buf = e.Append(buf[:0], r)
		if len(buf) != r.Input/16 || len(buf) != e.Len(r) {
			t.Fatalf("row %d: %d small blocks for %d tokens, Len says %d", i, len(buf), r.Input, e.Len(r))
		}
		for k, small := range buf {
			want := place{r.Blocks[k/32], k}
			if got, ok := places[small]; ok && got != want {
				t.Fatalf("row %d block %d: id %x also stands at %+v", i, k, small, got)
			}
			places[small] = want
		}
	}
}

func TestExpandCommonPrefixIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		to := []int{16, 32, 64, 128, 256, 512}[rng.IntN(6)]
		tr := &Trace{BlockTokens: 512, Partial: Partial(rng.IntN(2))}
		a, shared := Request{Input: rng.IntN(6000)}, rng.IntN(12)
		b := Request{Input: rng.IntN(6000)}
		for _, r := range []*Request{&a, &b} {
			for k := range tr.Partial.ids(r.Input, 512) {
				id := uint64(k)
				if k >= shared {
					id = rng.Uint64()
				}
				r.Blocks = append(r.Blocks, id)
			}
		}
		e := expander(t, tr, to)
		x, y := e.Append(nil, &a), e.Append(nil, &b)
		same := 0
		for same < min(len(x), len(y)) && x[same] == y[same] {
			same++
		}
		want := min(shared*512/to, len(x), len(y))
		if same != want {
			t.Fatalf("%v blocks of %d: %d small blocks in common, want %d (inputs %d and %d, %d large shared)",
				tr.Partial, to, same, want, a.Input, b.Input, shared)
		}
		for k := same; k < min(len(x), len(y)); k++ {
			if x[k] == y[k] {
				t.Fatalf("ids meet again at %d after they parted at %d", k, same)
			}
		}
	}
}

func TestExpandPartialLastBlock(t *testing.T) {
	for _, c := range []struct {
		partial     Partial
		input, want int
	}{
		{PartialCounted, 0, 0}, {PartialCounted, 15, 0}, {PartialCounted, 16, 1}, {PartialCounted, 511, 31},
		{PartialCounted, 512, 32}, {PartialCounted, 527, 32}, {PartialCounted, 528, 33},
		{PartialDropped, 511, 0}, {PartialDropped, 512, 32}, {PartialDropped, 1023, 32},
	} {
		tr := &Trace{BlockTokens: 512, Partial: c.partial}
		r := Request{Input: c.input, Blocks: slices.Repeat([]uint64{9}, c.partial.ids(c.input, 512))}
		e := expander(t, tr, 16)
		if got := len(e.Append(nil, &r)); got != c.want || e.Len(&r) != c.want {
			t.Errorf("%v, %d tokens: %d small blocks, Len %d, want %d", c.partial, c.input, got, e.Len(&r), c.want)
		}
	}
}

func TestExpandSessionScopeSeparatesSessions(t *testing.T) {
	tr := &Trace{BlockTokens: 64, Partial: PartialDropped, Scope: ScopeSession}
	e := expander(t, tr, 16)
	a := e.Append(nil, &Request{Input: 64, Blocks: []uint64{1}, Session: 1})
	b := e.Append(nil, &Request{Input: 64, Blocks: []uint64{1}, Session: 2})
	again := e.Append(nil, &Request{Input: 64, Blocks: []uint64{1}, Session: 1})
	if slices.Equal(a, b) || !slices.Equal(a, again) {
		t.Errorf("sessions 1, 2, 1 gave %x, %x, %x", a, b, again)
	}
}

func TestExpandAppendsWithoutAllocating(t *testing.T) {
	tr := mustDefault(t)
	e := expander(t, tr, 16)
	r := &tr.Requests[0]
	buf := make([]uint64, 1, 1+e.Len(r))
	buf[0] = 42
	if n := testing.AllocsPerRun(100, func() { e.Append(buf, r) }); n != 0 {
		t.Errorf("%v allocations per request", n)
	}
	if got := e.Append(buf, r); got[0] != 42 || len(got) != 1+r.Input/16 {
		t.Errorf("did not append: %d ids, first %d", len(got), got[0])
	}
}

func TestExpanderRefusesWhatDoesNotDivide(t *testing.T) {
	tr := at(0)
	for _, tokens := range []int{0, -16, 48, 1024} {
		if _, err := tr.Expander(tokens); err == nil {
			t.Errorf("blocks of %d tokens were accepted", tokens)
		}
	}
}

func BenchmarkExpand(b *testing.B) {
	tr := mustDefault(b)
	e := expander(b, tr, 16)
	var buf []uint64
	ids := 0
	for i := 0; b.Loop(); i++ {
		buf = e.Append(buf[:0], &tr.Requests[i%len(tr.Requests)])
		ids += len(buf)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(ids), "ns/id")
}

func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		if _, err := Default(); err != nil {
			b.Fatal(err)
		}
	}
}
