package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/klauspost/compress/zstd"
)

// TestReadScripts runs testdata/*.txt: "read" shows what the text is read as,
// "write" shows it in another form, and "dict" keeps a text as a file that belongs
// to the traces after it.
func TestReadScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		files := map[string]string{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			o := Options{Open: func(name string) (io.ReadCloser, error) {
				text, ok := files[name]
				if !ok {
					return nil, fmt.Errorf("%s is not there", name)
				}
				return io.NopCloser(strings.NewReader(text)), nil
			}}
			var maxBytes int
			name := "x.jsonl"
			d.MaybeScanArgs(t, "max-line", &o.MaxLine)
			d.MaybeScanArgs(t, "max-bytes", &maxBytes)
			d.MaybeScanArgs(t, "block-size", &o.BlockTokens)
			d.MaybeScanArgs(t, "name", &name)
			o.MaxBytes = int64(maxBytes)
			if d.Cmd == "dict" {
				files[name] = d.Input
				return ""
			}
			tr, err := Read(strings.NewReader(d.Input), name, o)
			if err != nil {
				return err.Error()
			}
			if d.Cmd == "write" {
				return written(t, tr, d)
			}
			return text(prepared(t, tr, d))
		})
	})
}

// prepared is the trace after the reshaping that a script asks for.
func prepared(t *testing.T, tr *Trace, d *datadriven.TestData) *Trace {
	var o Superposition
	if d.HasArg("superpose") {
		d.ScanArgs(t, "superpose", &o.Seed)
		o.Window, o.Apart = time.Minute, d.HasArg("apart")
		if d.HasArg("max-think") {
			o.MaxThink = time.Second
		}
		tr = tr.Superpose(o)
	}
	if d.HasArg("infer") {
		tr = tr.InferSessions(0)
	}
	return tr
}

func written(t *testing.T, tr *Trace, d *datadriven.TestData) string {
	var b strings.Builder
	var err error
	switch tr = prepared(t, tr, d); {
	case d.HasArg("mooncake"):
		o := MooncakeOptions{Delays: d.HasArg("delays")}
		d.MaybeScanArgs(t, "to-block-size", &o.BlockTokens)
		err = tr.WriteMooncake(&b, o)
	case d.HasArg("csv"):
		err = tr.WriteCSV(&b)
	default:
		err = tr.WriteOwn(&b)
	}
	if err != nil {
		return err.Error()
	}
	return b.String()
}

func text(tr *Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, blocks of %d, %v, %v ids", tr.Format, tr.BlockTokens, tr.Partial, tr.Scope)
	if !tr.Clock {
		b.WriteString(", no clock")
	}
	b.WriteByte('\n')
	small := numbering{}
	for i := range tr.Requests {
		r := &tr.Requests[i]
		blocks := r.Blocks
		for _, id := range blocks {
			if id > 1<<40 && id != 1<<64-1 { // a hash
				blocks = small.own(tr, r)
				break
			}
		}
		fmt.Fprintf(&b, "%d: at %v in %d out %d blocks %v", r.Line, r.At, r.Input, r.Output, blocks)
		if r.Session != 0 {
			fmt.Fprintf(&b, " session %d", r.Session)
		}
		if r.After != nil {
			fmt.Fprintf(&b, " after %v think %v", r.After, r.Think)
		}
		for _, x := range []struct{ name, value string }{{"id", r.ID}, {"tenant", r.Tenant}, {"model", r.Model}} {
			if x.value != "" {
				fmt.Fprintf(&b, " %s %s", x.name, x.value)
			}
		}
		if r.Preamble != 0 {
			fmt.Fprintf(&b, " preamble %d", r.Preamble)
		}
		if r.Agent {
			b.WriteString(" agent")
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
		} else if got.File.Bytes = want.File.Bytes; !reflect.DeepEqual(got, want) {
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
