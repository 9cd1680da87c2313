package downstream

import (
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
)

// writeBuffer is how much of an answer is kept until it is written, in bytes.
const writeBuffer = 4 << 10

var writers = sync.Pool{New: func() any { b := make([]byte, 0, writeBuffer); return &b }}

// buffer returns what was not written yet, with room for more.
func (w *response) buffer() []byte {
	if w.out == nil {
		w.out = writers.Get().(*[]byte)
	}
	return *w.out
}

// Write writes a part of the body.
func (w *response) Write(p []byte) (int, error) {
	if !w.headed {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.err != nil:
		return 0, w.err
	case len(p) == 0 || w.silent:
		return len(p), nil
	case !w.chunked && int64(len(p)) > w.left:
		return 0, http.ErrContentLength
	}
	b := w.buffer()
	if w.chunked {
		b = append(strconv.AppendInt(b, int64(len(p)), 16), "\r\n"...)
	} else {
		w.left -= int64(len(p))
	}
	if len(b)+len(p) <= writeBuffer {
		if b = append(b, p...); w.chunked {
			b = append(b, "\r\n"...)
		}
		*w.out = b
		if !w.chunked && w.left == 0 {
			w.last()
		}
		return len(p), w.err
	}
	parts := net.Buffers{b, p}
	if w.chunked {
		parts = append(parts, []byte("\r\n"))
	}
	w.send(&parts)
	w.drop()
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Flush writes what was not written yet.
func (w *response) Flush() error {
	if !w.headed {
		w.WriteHeader(http.StatusOK)
	}
	w.flush()
	return w.err
}

func (w *response) flush() {
	if w.out == nil {
		return
	}
	if w.err == nil && len(*w.out) > 0 {
		_, w.err = w.c.Write(*w.out)
	}
	w.drop()
}

// last writes the end of the answer, behind whoever else can go on: what is written in a
// row wakes other programs once.
func (w *response) last() {
	if w.out != nil {
		runtime.Gosched()
		w.flush()
	}
}

// drop gives the buffer back, since it may be long until there is more to write.
func (w *response) drop() {
	if cap(*w.out) <= 2*writeBuffer {
		*w.out = (*w.out)[:0]
		writers.Put(w.out)
	}
	w.out = nil
}

// send writes several parts at once.
func (w *response) send(parts *net.Buffers) {
	if w.c.request.TLS { // which has no use for parts
		_, w.err = w.c.Write(slices.Concat(*parts...))
		return
	}
	w.c.given.arm(w.c.SetWriteDeadline)
	for w.err == nil {
		_, err := parts.WriteTo(w.c.Conn)
		if err == nil || !w.c.given.early(err) {
			w.err = err
			return
		}
		w.c.given.again(w.c.SetWriteDeadline)
	}
}

// finish ends the answer and reports whether it is whole.
func (w *response) finish() bool {
	if !w.headed {
		w.header.Set("Content-Length", "0")
		w.WriteHeader(http.StatusOK)
	}
	if w.chunked && !w.silent {
		*w.out = append(w.buffer(), "0\r\n\r\n"...)
	}
	w.last()
	return w.err == nil && (w.left == 0 || w.silent || w.chunked || w.closes)
}

// breakOff leaves the answer as it is, and as one that the client sees is not whole: a
// body that ends with the connection breaks off with a reset.
func (w *response) breakOff() {
	switch {
	case !w.headed || w.silent || !w.chunked && w.left == 0: // nothing is to be cut off
	case w.chunked || w.left < untilEnd/2:
		w.flush()
	default:
		_ = w.c.beneath.(interface{ SetLinger(seconds int) error }).SetLinger(0)
	}
}
