package downstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// The context ends when the client leaves.
func TestStandardLeaving(t *testing.T) {
	arrived, left := make(chan struct{}), make(chan error)
	overStandard(t, func(w Writer, r *Request) {
		if err := r.Context().Err(); err != nil {
			t.Errorf("the context at first: %v", err)
		}
		arrived <- struct{}{}
		<-r.Context().Done()
		left <- r.Context().Err()
	}, func(t *testing.T, c *http.Client, url string) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, _, err := asks(t, c, r)
			ended <- err
		}()
		<-arrived
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the context: %v", err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the client: %v", err)
		}
	})
}

// Deadlines bound reading and writing, and may be taken off.
func TestStandardDeadlines(t *testing.T) {
	past := time.Unix(1, 0)
	errs := make(chan error, 1)
	overStandard(t, func(w Writer, r *Request) {
		switch r.Path {
		case "/read":
			if err := w.SetReadDeadline(past); err != nil {
				t.Error(err)
			}
			_, err := r.Body.Read(make([]byte, 1))
			errs <- err
		case "/write":
			if err := w.SetWriteDeadline(past); err != nil {
				t.Error(err)
			}
			var err error
			for err == nil {
				if _, err = io.WriteString(w, "hello"); err == nil {
					err = w.Flush()
				}
			}
			errs <- err
		default:
			for _, due := range []time.Time{time.Now().Add(time.Hour), {}} {
				if err := errors.Join(w.SetReadDeadline(due), w.SetWriteDeadline(due)); err != nil {
					t.Error(err)
				}
			}
			echo(w, r)
		}
	}, func(t *testing.T, c *http.Client, url string) {
		ask := func(path string, body io.Reader) (*http.Response, string, error) {
			r, err := http.NewRequestWithContext(t.Context(), "POST", url+path, body)
			if err != nil {
				t.Fatal(err)
			}
			return asks(t, c, r)
		}
		if _, text, err := ask("/none", strings.NewReader("hello")); err != nil || text != "/nonehello" {
			t.Errorf("%q, %v", text, err)
		}
		never, end := io.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _, _ = ask("/read", never) // it may or may not be answered
		}()
		if err := <-errs; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("reading: %v", err)
		}
		end.Close()
		<-ended
		if resp, text, err := ask("/write", nil); err == nil {
			t.Errorf("%s %q, though nothing can be written", resp.Status, text)
		}
		if err := <-errs; strings.HasSuffix(t.Name(), "1.1") && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("writing: %v", err)
		}
	})
}

// A handler that breaks off an answer leaves none that looks whole, whatever it has
// written.
func TestStandardAborts(t *testing.T) {
	overStandard(t, func(w Writer, r *Request) {
		switch r.Path {
		case "/fields":
			w.Header().Set("Content-Length", "0")
		case "/status":
			w.WriteHeader(http.StatusOK)
		case "/part":
			io.WriteString(w, "hello")
		case "/flushed":
			io.WriteString(w, "hello")
			w.Flush()
		case "/length":
			w.Header().Set("Content-Length", "9")
			io.WriteString(w, "hello")
			w.Flush()
		}
		panic(http.ErrAbortHandler)
	}, func(t *testing.T, c *http.Client, url string) {
		for _, path := range []string{"/", "/fields", "/status", "/part", "/flushed", "/length"} {
			r, err := http.NewRequestWithContext(t.Context(), "POST", url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp, text, err := asks(t, c, r); err == nil {
				t.Errorf("%s: %s %q looks whole", path, resp.Status, text)
			}
		}
	})
}
