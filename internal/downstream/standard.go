package downstream

import (
	"errors"
	"net/http"
	"time"

	"gatewayd/internal/http1"
)

// Standard has a Handler answer the requests of net/http's server.
type Standard struct{ Handler Handler }

// ServeHTTP answers one request.
func (s Standard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	own := NewRequest(r.Context(), http1.Request{
		Method: r.Method, Target: r.RequestURI, Path: r.URL.Path, Query: r.URL.RawQuery, Host: r.Host,
		Proto: r.Proto, Minor: r.ProtoMinor, Header: http1.HeaderOf(r.Header), Length: r.ContentLength, Close: r.Close,
	}, r.Body)
	defer own.End()(nil)
	own.Header.Del("Host") // which HTTP/2 may have beside its own word for it
	own.Major, own.TLS, own.Remote = r.ProtoMajor, r.TLS != nil, r.RemoteAddr
	answer := &standard{to: w, control: http.NewResponseController(w)}
	s.Handler.Serve(answer, own)
	answer.WriteHeader(http.StatusOK)
}

// standard is an answer that net/http writes.
type standard struct {
	to      http.ResponseWriter
	control *http.ResponseController
	header  http1.Header
	headed  bool
}

// Header returns the header fields.
func (w *standard) Header() *http1.Header { return &w.header }

// WriteHeader begins the answer.
func (w *standard) WriteHeader(status int) {
	if w.headed || status < http.StatusOK {
		return
	}
	w.headed = true
	h := w.to.Header()
	h["Content-Type"] = nil // none, instead of a guess
	for _, f := range w.header {
		h[f.Name] = append(h[f.Name], f.Value)
	}
	w.to.WriteHeader(status)
}

// Write writes a part of the body.
func (w *standard) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	n, err := w.to.Write(b)
	if errors.Is(err, http.ErrBodyNotAllowed) {
		return len(b), nil
	}
	return n, err
}

// Flush writes what was not written yet.
func (w *standard) Flush() error {
	w.WriteHeader(http.StatusOK)
	return w.control.Flush()
}

// SetReadDeadline bounds reading.
func (w *standard) SetReadDeadline(t time.Time) error { return w.control.SetReadDeadline(t) }

// SetWriteDeadline bounds writing.
func (w *standard) SetWriteDeadline(t time.Time) error { return w.control.SetWriteDeadline(t) }
