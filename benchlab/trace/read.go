package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Options bounds what Read accepts. The zero value gives the defaults.
type Options struct {
	MaxLine  int   // bytes of one line with its end, at least 64; 1 MiB when 0
	MaxBytes int64 // bytes of the whole input once unpacked; 1 GiB when 0
}

func (o Options) orDefault() Options {
	if o.MaxLine <= 0 {
		o.MaxLine = 1 << 20
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 30
	}
	o.MaxLine = max(o.MaxLine, 64)
	return o
}

// headBytes is how much of an unpacked input decides its format.
const headBytes = 64 << 10

// maxWindow bounds the memory that a zstd header can ask for.
const maxWindow = 64 << 20

// format is one way to write traffic down.
type format struct {
	name   string
	looks  string                       // what a line looks like, for people
	detect func(line []byte) bool       // judges the (perhaps cut) first line
	read   func(*lines) (*Trace, error) // reads all lines
}

// formats lists every format that Read knows, in the order they are tried.
func formats() []format {
	return []format{mooncakeFormat()}
}

// Read reads a whole trace and calls it name in the result and in errors. It
// finds out by the first bytes whether the input is packed (gzip, zstd or not at
// all) and which format it has. Input that is wrong in any way is refused with a
// *RowError where a line is to blame, never repaired silently: what Read changed
// is in the trace's Notes. Memory is a small multiple of the unpacked size.
func Read(r io.Reader, name string, o Options) (*Trace, error) {
	o = o.orDefault()
	plain, done, err := unpack(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; check that the file is complete", name, err)
	}
	defer done()
	in := bufio.NewReaderSize(&capped{r: plain, left: o.MaxBytes}, max(headBytes, o.MaxLine))
	head, err := in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, fmt.Errorf("%s: reading: %w; check that the file is complete", name, err)
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	if len(first) == 0 {
		return nil, fmt.Errorf("%s: the trace is empty; give a file with at least one request", name)
	}
	for _, f := range formats() {
		if f.detect(first) {
			t, err := f.read(&lines{in: in, name: name, limit: o.MaxLine})
			if err != nil {
				return nil, err
			}
			t.Format = f.name
			return t, nil
		}
	}
	return nil, &RowError{Name: name, Line: 1, Problem: "format not recognised",
		Hint: "known formats: " + describe(formats())}
}

func describe(fs []format) string {
	var b strings.Builder
	for i, f := range fs {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s (%s)", f.name, f.looks)
	}
	return b.String()
}

// unpack looks at the first bytes and puts the right decompressor in front. done
// releases it.
func unpack(r io.Reader) (plain io.Reader, done func(), err error) {
	in := bufio.NewReader(r)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("reading: %w", err)
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("gzip header: %w", err)
		}
		return z, func() {}, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("zstd header: %w", err)
		}
		return z, z.Close, nil
	}
	return in, func() {}, nil
}
