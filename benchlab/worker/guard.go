package worker

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// handle answers a request whose body has been read. An error it returns
// before it wrote anything becomes the answer.
type handle func(ctx context.Context, w http.ResponseWriter, body []byte) error

// api guards a handler: method, key, number of requests in flight, size of the
// body, time.
func (s *Server) api(method string, do handle) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			w.Header().Set("Allow", method)
			fail(w, refuse(http.StatusMethodNotAllowed, "", "%s wants %s.", r.URL.Path, method))
			return
		}
		if !s.allowed(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, refuse(http.StatusUnauthorized, "", "The API key is missing or wrong."))
			return
		}
		if err := s.enter(1); err != nil {
			fail(w, err)
			return
		}
		defer s.leave(1)
		body, err := s.read(w, r)
		if err != nil {
			fail(w, err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.config.Timeout)
		defer cancel()
		if err := do(ctx, w, body); err != nil {
			fail(w, err)
		}
	})
}

func (s *Server) allowed(r *http.Request) bool {
	if s.config.APIKey == "" {
		return true
	}
	key, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return found && subtle.ConstantTimeCompare([]byte(key), []byte(s.config.APIKey)) == 1
}

// enter counts n more requests in flight, or refuses them.
func (s *Server) enter(n int) error {
	if s.inFlight.Add(int64(n)) > int64(s.config.MaxInFlight) {
		s.leave(n)
		return refuse(http.StatusServiceUnavailable, "", "More than %d requests are in flight.", s.config.MaxInFlight)
	}
	return nil
}

func (s *Server) leave(n int) { s.inFlight.Add(int64(-n)) }

func (s *Server) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	deadlines := http.NewResponseController(w)
	_ = deadlines.SetReadDeadline(time.Now().Add(s.config.WriteTimeout)) // not every writer has deadlines
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.config.MaxBodyBytes))
	_ = deadlines.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, refuse(http.StatusRequestEntityTooLarge, "", "The request body is larger than %d bytes.", large.Limit)
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "", "The request body could not be read: %v.", err)
	}
	return body, nil
}
