package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cockroachdb/datadriven"
	"github.com/klauspost/compress/zstd"
)

func TestReadScripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/mooncake.txt", func(t *testing.T, d *datadriven.TestData) string {
		var o Options
		var maxBytes int
		d.MaybeScanArgs(t, "max-line", &o.MaxLine)
		d.MaybeScanArgs(t, "max-bytes", &maxBytes)
		o.MaxBytes = int64(maxBytes)
		tr, err := Read(strings.NewReader(d.Input), "x.jsonl", o)
		if err != nil {
			return err.Error()
		}
		return text(tr)
	})
}

func text(tr *Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, blocks of %d, %v, %v ids\n", tr.Format, tr.BlockTokens, tr.Partial, tr.Scope)
	for _, r := range tr.Requests {
		fmt.Fprintf(&b, "%d: at %v in %d out %d blocks %v", r.Line, r.At, r.Input, r.Output, r.Blocks)
		if r.Session != 0 {
			fmt.Fprintf(&b, " session %d", r.Session)
		}
		b.WriteByte('\n')
	}
	for _, n := range tr.Notes {
		fmt.Fprintln(&b, "note:", n)
	}
	return b.String()
}

const twoRows = `{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[5]}
{"timestamp":3,"input_length":600,"output_length":2,"hash_ids":[6,7]}
`

func packed(t testing.TB, plain string) map[string][]byte {
	t.Helper()
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{g, z} {
		if _, err := w.Write([]byte(plain)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return map[string][]byte{"plain": []byte(plain), "gzip": gz.Bytes(), "zstd": zs.Bytes()}
}

func TestReadUnpacksByFirstBytes(t *testing.T) {
	want, err := Read(strings.NewReader(twoRows), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for kind, data := range packed(t, twoRows) {
		got, err := Read(iotest.OneByteReader(bytes.NewReader(data)), "x", Options{})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", kind, got, want)
		}
	}
}

func TestReadRefusesCutArchives(t *testing.T) {
	for kind, data := range packed(t, strings.Repeat(twoRows[:66], 3000)) {
		if kind == "plain" {
			continue
		}
		for _, keep := range []int{5, len(data) / 2, len(data) - 1} {
			_, err := Read(bytes.NewReader(data[:keep]), "x", Options{})
			if err == nil {
				t.Errorf("%s cut to %d of %d bytes was read without an error", kind, keep, len(data))
			} else if !strings.HasPrefix(err.Error(), "x:") || !strings.Contains(err.Error(), "complete") {
				t.Errorf("%s cut to %d: error does not say where and what to do: %v", kind, keep, err)
			}
		}
	}
}

func TestReadBoundsUnpackedSize(t *testing.T) {
	for kind, data := range packed(t, twoRows+strings.Repeat("\n", 1<<20)) {
		if len(data) > 1<<16 && kind != "plain" {
			t.Fatalf("%s: %d bytes is no bomb", kind, len(data))
		}
		_, err := Read(bytes.NewReader(data), "x", Options{MaxBytes: 1 << 16})
		if err == nil || !strings.Contains(err.Error(), "larger than the limit") {
			t.Errorf("%s: got %v, want a refusal by size", kind, err)
		}
	}
}

func TestReadPassesOnReadErrors(t *testing.T) {
	for _, keep := range []int{0, 2, 70} {
		r := iotest.TimeoutReader(iotest.DataErrReader(strings.NewReader(twoRows[:keep])))
		if keep == 0 {
			r = iotest.ErrReader(iotest.ErrTimeout)
		}
		if _, err := Read(r, "x", Options{}); err == nil {
			t.Errorf("after %d bytes: no error", keep)
		}
	}
}

func FuzzMooncake(f *testing.F) {
	for _, data := range packed(f, twoRows) {
		f.Add(data)
	}
	f.Add([]byte(`{"timestamp":1e3,"input_length":0,"output_length":0,"hash_ids":[],"session_id":1,"x":{}}`))
	f.Add([]byte(`{"input_length"` + strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := Read(bytes.NewReader(data), "f", Options{MaxLine: 4096, MaxBytes: 1 << 16})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error without its place: %v", err)
			}
			return
		}
		checkSound(t, tr)
		checkSound(t, tr.Spread(1))
		checkSound(t, tr.InferSessions(0))
		e, err := tr.Expander(16)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tr.Requests {
			if got := len(e.Append(nil, &tr.Requests[i])); got != e.Len(&tr.Requests[i]) {
				t.Fatalf("row %d: %d small blocks, Len says %d", i, got, e.Len(&tr.Requests[i]))
			}
		}
		tr.Info()
	})
}

// checkSound holds a trace to what its types promise.
func checkSound(t *testing.T, tr *Trace) {
	t.Helper()
	if len(tr.Requests) == 0 {
		t.Fatal("a trace without requests")
	}
	for i := range tr.Requests {
		r := &tr.Requests[i]
		if r.Input < 0 || r.Output < 0 || r.At < 0 || r.Line < 1 {
			t.Fatalf("row %d: %+v", i, r)
		}
		if len(r.Blocks) != tr.Partial.ids(r.Input, tr.BlockTokens) {
			t.Fatalf("row %d: %d blocks for %d tokens", i, len(r.Blocks), r.Input)
		}
		if i > 0 && (r.At < tr.Requests[i-1].At || r.Line <= tr.Requests[i-1].Line) {
			t.Fatalf("row %d is before row %d", i, i-1)
		}
	}
}
