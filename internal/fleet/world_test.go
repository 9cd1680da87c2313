package fleet

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a model server of the test: what it answers can be changed at any
// time. It serves all hosts of its name.
type server struct {
	mu       sync.Mutex
	refuse   bool            // nobody listens
	hang     map[string]bool // paths that never answer
	status   map[string]int  // of paths; 0 is 200, or 404 without a body
	location string          // of redirects
	body     map[string]string
	asked    []*http.Request
}

// set changes a server under its lock.
func (s *server) set(f func(s *server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// requests returns how often a path was asked for.
func (s *server) requests(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.asked {
		if r.URL.Path == path {
			n++
		}
	}
	return n
}

// world is a network of servers by host, without sockets.
type world map[string]*server

func (w world) RoundTrip(r *http.Request) (*http.Response, error) {
	s := w[r.URL.Host]
	if s == nil {
		return nil, errors.New("no such host")
	}
	s.mu.Lock()
	s.asked = append(s.asked, r)
	refuse, hang, status, location, body := s.refuse, s.hang[r.URL.Path], s.status[r.URL.Path], s.location, s.body[r.URL.Path]
	s.mu.Unlock()
	switch {
	case refuse:
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	case hang:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case status == 0 && body == "" && r.URL.Path != healthPath:
		status = http.StatusNotFound
	case status == 0:
		status = http.StatusOK
	}
	return &http.Response{
		StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(body)),
		Header: http.Header{"Location": {location}},
	}, nil
}

// vllm returns a server that is well, with a model and metrics.
func vllm(model string) *server {
	return &server{
		hang: map[string]bool{}, status: map[string]int{},
		body: map[string]string{
			modelsPath:  fmt.Sprintf(`{"data":[{"id":%q}]}`, model),
			metricsPath: "vllm:num_requests_running 1\nvllm:num_requests_waiting 2\nvllm:kv_cache_usage_perc 0.5\nprocess_start_time_seconds 1700000000\n",
		},
	}
}

// spec returns the spec of a worker whose ID and host are one.
func spec(id string) Spec {
	return Spec{Worker: router.Worker{ID: id}, URL: &url.URL{Scheme: "http", Host: id}}
}

// within runs a test in virtual time, with a fleet of the given workers. Each
// test waits by sleeping virtually, until all goroutines of the fleet sleep too.
func within(t *testing.T, w world, specs []Spec, test func(t *testing.T, f *Fleet)) {
	t.Helper()
	run(t, specs, Options{Transport: w}, test)
}

// run is within with options.
func run(t *testing.T, specs []Spec, o Options, test func(t *testing.T, f *Fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f, err := New(specs, o)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		test(t, f)
	})
}

// pass lets virtual time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// pool draws the members of a pool: ID, and why it gets no requests, or !.
func pool(f *Fleet, name string) string {
	members, ok := f.Snapshot().Pools()[name]
	if !ok {
		return "none"
	}
	var out []string
	for _, m := range members {
		text := m.ID
		if m.Down {
			text = "-" + text
		}
		if m.Admit == 1 {
			text += "?"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// defaults are what the fleets of the tests run with.
var defaults = config.Default()
