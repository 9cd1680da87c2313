package http1

import (
	"bufio"
	"io"
	"net/http/httputil"
	"strings"
)

// trailerBytes bounds the fields behind a chunked body, in bytes. They are thrown away.
const trailerBytes = 64 << 10

// Body reads the body of a message. The zero Body is empty. It is not safe for
// concurrent use.
type Body struct {
	in     *bufio.Reader
	left   int64     // bytes; Unknown: until the end of the connection
	chunks io.Reader // of one that is chunked
	broken error     // the chunks or what follows them
}

// NewBody returns the body that follows in a reader, framed as Framing says.
func NewBody(in *bufio.Reader, length int64, chunked bool) Body {
	b := Body{in: in, left: length}
	if chunked {
		b.chunks = httputil.NewChunkedReader(in)
	}
	return b
}

// Left returns how many bytes of the body are not read yet, or Unknown.
func (b *Body) Left() int64 { return b.left }

// Read reads on. The error is io.EOF behind the body's end and
// io.ErrUnexpectedEOF if the connection ends within it.
func (b *Body) Read(p []byte) (n int, err error) {
	switch {
	case b.left == 0:
		return 0, io.EOF
	case b.chunks != nil:
		return b.readChunks(p)
	case b.left == Unknown:
		return b.in.Read(p)
	}
	n, err = b.in.Read(p[:min(int64(len(p)), b.left)])
	switch b.left -= int64(n); {
	case b.left == 0:
		return n, io.EOF
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *Body) readChunks(p []byte) (n int, err error) {
	if b.broken != nil {
		return 0, b.broken
	}
	if n, err = b.chunks.Read(p); err == io.EOF {
		err = b.trailer()
	}
	switch {
	case err == io.EOF:
		b.left = 0
	case err != nil:
		b.broken = err
	}
	return n, err
}

// trailer reads what follows the last chunk; io.EOF is a clean end. A line here ends
// with CRLF as all lines between chunks do.
func (b *Body) trailer() error {
	head, err := ReadHead(b.in, trailerBytes)
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case strings.Count(head, "\n") != strings.Count(head, "\r\n"):
		return ErrField
	case head == "\r\n":
		return io.EOF
	}
	var thrown Header
	if err := thrown.ReadFields(head); err != nil {
		return err
	}
	return io.EOF
}
