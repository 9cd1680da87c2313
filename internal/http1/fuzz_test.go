package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const fuzzLimit = 1 << 16

// FuzzHead holds that a head is read alike, however its bytes come.
func FuzzHead(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: g\r\n\r\nrest"), uint16(40))
	f.Add([]byte("a\n\nb\r\n\r\n"), uint16(3))
	f.Add([]byte("a\r\n\r\r\n\n"), uint16(100))
	f.Fuzz(func(t *testing.T, data []byte, limit uint16) {
		whole := bufio.NewReaderSize(bytes.NewReader(data), len(data)+16)
		whole.Peek(1)
		want, werr := ReadHead(whole, int(limit))
		left, _ := io.ReadAll(whole)
		for _, in := range []*bufio.Reader{bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(data)), 64), bufio.NewReaderSize(iotest.HalfReader(bytes.NewReader(data)), 16)} {
			got, err := ReadHead(in, int(limit))
			if got != want || !errors.Is(err, werr) || len(got) > int(limit) {
				t.Fatalf("%q, %v, want %q, %v", got, err, want, werr)
			}
			if rest, _ := io.ReadAll(in); err == nil && (!bytes.Equal(rest, left) || !bytes.Equal(data, append([]byte(got), rest...))) {
				t.Fatalf("%q is left, want %q", rest, left)
			}
		}
	})
}

// FuzzRequest holds that what is accepted, net/http accepts too, and understands alike.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: g\r\n\r\nrest",
		"POST /a?b HTTP/1.1\r\nHost: g\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhellorest",
		"POST http://g:1/a HTTP/1.1\nHost: g\nTransfer-Encoding: Chunked\n\n5;x=y\r\nhello\r\n0\r\na: b\r\n\r\nrest",
		"CONNECT h:1 HTTP/1.0\r\nConnection: keep-alive, close\r\nPragma: no-cache\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chun\u212aed\r\nConnection: clo\u017fe\r\n\r\n0\r\n\nrest",
		"OPTIONS * HTTP/1.2\r\nHost: [::1]\r\nx: \xff\r\nX: y \t\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReader(bytes.NewReader(data))
		head, err := ReadHead(in, fuzzLimit)
		if err != nil {
			return
		}
		var r Request
		if ParseRequest(&r, head) != nil {
			return
		}
		theirs := bufio.NewReaderSize(bytes.NewReader(data), len(data)+16)
		want, err := http.ReadRequest(theirs)
		if err != nil {
			known(t, err, r.Header.Map())
			return
		}
		if r.Method != want.Method || r.Target != want.RequestURI || r.Path != want.URL.Path || r.Query != want.URL.RawQuery || r.Host != want.Host || r.Proto != want.Proto || r.Minor != min(want.ProtoMinor, 1) {
			t.Fatalf("%+v, want %+v", r, want)
		}
		var coding []string
		if r.Length == Unknown {
			coding = []string{"chunked"}
		}
		if r.Length != want.ContentLength || !slices.Equal(coding, want.TransferEncoding) || r.Close != want.Close {
			t.Fatalf("%d bytes, %v, close %v, want %d, %v, %v", r.Length, coding, r.Close, want.ContentLength, want.TransferEncoding, want.Close)
		}
		alike(t, r.Header.Map(), want.Header)
		sameBody(t, NewBody(in, r.Length, len(coding) > 0), in, want.Body, theirs)
	})
}

// FuzzResponse holds the same for answers to GET.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhellorest",
		"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\na: b\r\n\r\nrest",
		"HTTP/1.0 500 Oh\nConnection: keep-alive\n\nuntil the end",
		"HTTP/1.1 204 No Content\r\nX: 1\r\nx: 2\r\n\r\nrest",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nPragma: no-cache\r\n\r\nrest",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReader(bytes.NewReader(data))
		head, err := ReadHead(in, fuzzLimit)
		if err != nil {
			return
		}
		var r Response
		if ParseResponse(&r, head) != nil {
			return
		}
		theirs := bufio.NewReaderSize(bytes.NewReader(data), len(data)+16)
		want, err := http.ReadResponse(theirs, nil)
		if err != nil {
			if !r.Chunked || !strings.Contains(err.Error(), "Content-Length") { // which does not count beside chunks
				known(t, err, r.Header.Map())
			}
			return
		}
		if strings.TrimLeft(r.Status, " ") != want.Status || r.StatusCode != want.StatusCode || r.Proto != want.Proto || r.Minor != min(want.ProtoMinor, 1) {
			t.Fatalf("%+v, want %+v", r, want)
		}
		length, chunked := r.Length, r.Chunked
		if r.StatusCode < 200 || r.StatusCode == http.StatusNoContent || r.StatusCode == http.StatusNotModified {
			if length, chunked = 0, false; !r.Header.Has("Content-Length") {
				delete(want.Header, "Content-Length") // which net/http keeps beside chunks
			}
		} else if length != want.ContentLength || chunked != (len(want.TransferEncoding) > 0) || r.Close != want.Close && (chunked || length != Unknown) {
			t.Fatalf("%d bytes, chunked %v, close %v, want %d, %v, %v", length, chunked, r.Close, want.ContentLength, want.TransferEncoding, want.Close)
		}
		alike(t, r.Header.Map(), want.Header)
		sameBody(t, NewBody(in, length, chunked), in, want.Body, theirs)
	})
}

// known fails unless net/http refuses for what does not matter here: the names that a
// Trailer field announces.
func known(t *testing.T, err error, h http.Header) {
	if h["Trailer"] == nil || !strings.Contains(err.Error(), "bad trailer key") {
		t.Fatalf("net/http refuses: %v", err)
	}
}

// alike compares header fields, but for what net/http adds and takes away.
func alike(t *testing.T, got, want http.Header) {
	if !slices.Equal(got["Cache-Control"], want["Cache-Control"]) && len(got["Pragma"]) > 0 {
		delete(want, "Cache-Control")
	}
	delete(got, "Trailer")
	delete(want, "Trailer")
	for name, values := range got {
		if !slices.Equal(values, want[name]) {
			t.Fatalf("%s: %q, want %q", name, values, want[name])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// sameBody compares bodies, and what follows them.
func sameBody(t *testing.T, body Body, in *bufio.Reader, theirs io.ReadCloser, follows *bufio.Reader) {
	got, err := io.ReadAll(&body)
	want, werr := io.ReadAll(theirs)
	if err == nil && werr != nil || !bytes.Equal(got, want) {
		t.Fatalf("%q, %v, want %q, %v", got, err, want, werr)
	}
	if err != nil {
		return
	}
	left, _ := io.ReadAll(in)
	if expected, _ := io.ReadAll(follows); !bytes.Equal(left, expected) {
		t.Fatalf("%q is left, want %q", left, expected)
	}
}
