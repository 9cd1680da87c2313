package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Options change what Read accepts. The zero value is a good start.
type Options struct {
	MaxLine  int   // bytes of one line with its end; 64 MiB when 0
	MaxBytes int64 // bytes of the whole input once unpacked; 1 GiB when 0

	// BlockTokens replaces the block size of a format whose files do not state it
	// (mooncake 512, bailian 16); 0 keeps it.
	BlockTokens int
	// Open opens a file that belongs to the trace, by its name at the origin, as
	// RAGPulse's dictionaries ("1_sys_prompt.jsonl"). The file may be packed. Nil:
	// there are none.
	Open func(name string) (io.ReadCloser, error)
}

func (o Options) orDefault() Options {
	if o.MaxLine <= 0 {
		o.MaxLine = 64 << 20
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 30
	}
	return o
}

// headBytes is how much of an unpacked input decides its format.
const headBytes = 64 << 10

// format is one way to write traffic down.
type format struct {
	name   string
	looks  string                       // what a line looks like, for people
	detect func(line []byte) bool       // judges the (perhaps cut) first line
	read   func(*lines) (*Trace, error) // reads all lines
}

// formats lists every format that Read knows, in the order they are tried.
func formats() []format {
	return []format{ownFormat(), wekaFormat(), ragpulseFormat(), bailianFormat(), mooncakeFormat(), azureFormat(), burstFormat(), csvFormat()}
}

// Read reads a whole trace and calls it name in the result and in errors. It
// finds out by the first bytes whether the input is packed (gzip, zstd or not at
// all) and which format it has. Input that is wrong is refused with a *RowError
// where a line is to blame, or repaired where docs/traces.md says so, and never
// silently: what Read changed is in the trace's Notes. Memory is a small multiple
// of the unpacked size, and much less where turns repeat their session's prefix.
func Read(r io.Reader, name string, o Options) (*Trace, error) {
	stored := &counted{r: r}
	l, done, err := open(stored, name, o)
	if err != nil {
		return nil, err
	}
	defer done()
	head, err := l.in.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, fmt.Errorf("%s: reading: %w; check that the file is complete", name, err)
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	if len(first) == 0 {
		return nil, fmt.Errorf("%s: the trace is empty; give a file with at least one request", name)
	}
	for _, f := range formats() {
		if !f.detect(first) {
			continue
		}
		t, err := f.read(l)
		if err != nil {
			return nil, err
		}
		if len(t.Requests) == 0 {
			return nil, fmt.Errorf("%s: the trace is empty; give a file with at least one request", name)
		}
		t.Name, t.Format = name, f.name
		t.File.Bytes, t.File.RawBytes, t.File.CRLF = stored.n, l.raw.n, l.crlf > 0
		t.Notes = append(l.notes(), t.Notes...)
		t.noteCopies()
		t.chain()
		return t, nil
	}
	return nil, unknown(name, first)
}

// open unpacks an input and cuts it into lines. done releases the unpacker.
func open(r io.Reader, name string, o Options) (*lines, func(), error) {
	o = o.orDefault()
	plain, done, err := unpack(r)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w; check that the file is complete", name, err)
	}
	l := &lines{name: name, o: o, raw: &counted{r: &capped{r: plain, left: o.MaxBytes}}}
	l.in = bufio.NewReaderSize(l.raw, headBytes)
	if mark, _ := l.in.Peek(3); bytes.Equal(mark, []byte{0xef, 0xbb, 0xbf}) {
		l.bom = true
		_, err = l.in.Discard(len(mark))
	} else if bytes.HasPrefix(mark, []byte{0xff, 0xfe}) || bytes.HasPrefix(mark, []byte{0xfe, 0xff}) {
		err = &RowError{Name: name, Line: 1, Problem: "text is UTF-16", Hint: "turn it into UTF-8, as with iconv -f UTF-16 -t UTF-8"}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return l, done, nil
}

// unknown refuses a file whose first line no format owns to.
func unknown(name string, first []byte) error {
	e := &RowError{Name: name, Line: 1, Problem: "format not recognised", Hint: "known formats: " + describe(formats())}
	if first[0] == '[' {
		e.Problem, e.Hint = "the file is one JSON list", "write one object a line, as with jq -c '.[]'"
	}
	return e
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
