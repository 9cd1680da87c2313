package record_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/record"
)

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w, err := record.NewWriter(&b, record.Header{Start: time.Unix(1, 0).UTC(), BlockBytes: 512})
	if err != nil {
		t.Fatal(err)
	}
	none := 0
	for _, l := range []record.Line{
		{AtNS: 5, Model: "m", PromptTokens: 9, OutputTokens: 1, CachedTokens: &none, Outcome: record.Completed, Blocks: []uint64{7, 8}},
		{AtNS: 6},
	} {
		if err := w.Write(&l); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"format":"gatewayd.record/1","start":"1970-01-01T00:00:01Z","block_bytes":512}
{"at_ns":5,"model":"m","prompt_tokens":9,"output_tokens":1,"cached_tokens":0,"outcome":"completed","blocks":[7,8]}
{"at_ns":6,"prompt_tokens":0,"output_tokens":0,"blocks":[]}
`
	if b.String() != want {
		t.Errorf("got\n%s, want\n%s", b.String(), want)
	}
}

func TestHeaderNeedsOneBlockSize(t *testing.T) {
	for _, h := range []record.Header{{}, {BlockBytes: 1, BlockTokens: 1}} {
		if _, err := record.NewWriter(&bytes.Buffer{}, h); err == nil {
			t.Errorf("%+v was accepted", h)
		}
	}
}

type full struct{ left int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestOneWrite holds that a line is one call of the writer, and that its error
// comes back.
func TestOneWrite(t *testing.T) {
	w, err := record.NewWriter(&full{left: 2}, record.Header{BlockTokens: 16})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&record.Line{}); err != nil {
		t.Error(err)
	}
	if err := w.Write(&record.Line{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

func TestSalt(t *testing.T) {
	a, again, b := record.Salt{1}, record.Salt{1}, record.Salt{2}
	one := a.Blocks(nil, []uint64{1, 2, 1})
	if one[0] != one[2] || one[0] == one[1] {
		t.Errorf("equal blocks, different ids, or the reverse: %v", one)
	}
	for _, id := range append(one, b.Blocks(nil, []uint64{1})...) {
		if id >= 1<<53 {
			t.Errorf("%d is not exact in a float64", id)
		}
	}
	if other := b.Blocks(nil, []uint64{1}); other[0] == one[0] {
		t.Error("another salt, the same id")
	}
	if again.Name("x") != a.Name("x") || a.Name("x") == b.Name("x") || len(a.Name("x")) != 16 || strings.Contains(a.Name("secret"), "secret") {
		t.Errorf("names %s and %s", a.Name("x"), b.Name("x"))
	}
	if a.Name("") != "" || a.Key(0) != "" || a.Key(1) == "" || a.Key(1) == a.Key(2) {
		t.Errorf("keys %q and %q", a.Key(1), a.Key(2))
	}
}

func BenchmarkSalt(b *testing.B) {
	var s record.Salt
	ids := make([]uint64, 1000)
	var out []uint64
	for b.Loop() {
		out = s.Blocks(out[:0], ids)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/id")
}
