package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/gateway"
	"gatewayd/pkg/plugin/ref"
)

// TestMain fails when a test leaves a goroutine behind.
// In a process of its own it is a strategy.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == BundledCommand {
		serveStrategy(os.Args[2])
		return
	}
	goleak.VerifyTestMain(tests{m})
}

type tests struct{ *testing.M }

func (t tests) Run() int {
	dir, err := os.MkdirTemp("", "gatewayd-daemon-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_CONFIG_HOME", dir) // where the admin token is
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return t.M.Run()
}

const (
	token    = "data: {\"choices\":[{\"delta\":{\"content\":\"t\"}}]}\n\n"
	done     = "data: [DONE]\n\n"
	hello    = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
	streamed = `{"model":"m","stream":true,"messages":[]}`
)

// holding is a worker whose streams end when release is closed.
func holding(t *testing.T, release <-chan struct{}) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"m"}]}`)
		case "/v1/chat/completions":
			body, _ := io.ReadAll(r.Body)
			if !strings.Contains(string(body), "stream") {
				io.WriteString(w, `{"choices":[]}`)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, token)
			http.NewResponseController(w).Flush()
			select {
			case <-release:
				io.WriteString(w, done)
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func settings(workers ...string) config.Config {
	c := config.Default()
	c.Listen, c.AdminListen, c.Strategies, c.Probe.Successes = "127.0.0.1:0", "127.0.0.1:0", nil, 1
	for _, u := range workers {
		c.Workers = append(c.Workers, config.Worker{URL: u})
	}
	return c
}

// start starts a gateway and waits until it is ready.
func start(t *testing.T, c config.Config) *Daemon {
	t.Helper()
	d, err := Start(t.Context(), Options{Config: c, Version: "test", Logger: hclog.NewNullLogger(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "readiness", func() bool { return status(t, d, "/readyz") == http.StatusOK })
	return d
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for !ok() {
		select {
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func status(t *testing.T, d *Daemon, path string) int {
	t.Helper()
	resp, err := http.Get("http://" + d.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func post(d *Daemon, body string) (*http.Response, error) {
	return http.Post("http://"+d.Addr()+"/v1/chat/completions", "application/json", strings.NewReader(body))
}

// stream begins a streamed request and returns what is left of it.
func stream(t *testing.T, d *Daemon) io.ReadCloser {
	t.Helper()
	resp, err := post(d, streamed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, len(token))); err != nil {
		t.Fatal(err)
	}
	return resp.Body
}

// While streams run, readiness fails and new requests are served; all streams
// end, and then the gateway.
func TestShutdownServesWhileStreamsRun(t *testing.T) {
	release := make(chan struct{})
	d := start(t, settings(holding(t, release)))
	open := []io.ReadCloser{stream(t, d), stream(t, d)}
	ended := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		ended <- d.Shutdown(ctx)
	}()
	until(t, "readiness to fail", func() bool { return status(t, d, "/readyz") == http.StatusServiceUnavailable })
	for range 10 {
		resp, err := post(d, hello)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !resp.Close {
			t.Errorf("while it shuts down: %s, the connection is kept: %v", resp.Status, !resp.Close)
		}
	}
	close(release)
	for _, s := range open {
		if rest, err := io.ReadAll(s); err != nil || string(rest) != done {
			t.Errorf("the stream ended with %q, %v", rest, err)
		}
		s.Close()
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", d.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("it has ended, and a connection got %v", err)
	}
}

// Streams that do not end in time are cut: their clients are told, and the error
// says so.
func TestShutdownHasAnEnd(t *testing.T) {
	d := start(t, settings(holding(t, nil)))
	open := stream(t, d)
	defer open.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := d.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("error %v", err)
	}
	if rest, err := io.ReadAll(open); err != nil || strings.Count(string(rest), `"code":"shutting_down"`) != 1 {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
}

func TestIdleGatewayEndsAtOnce(t *testing.T) {
	d := start(t, settings(holding(t, nil)))
	if err := d.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Settings that cannot work are told from a system that does not play along, and
// nothing is left of a start that failed.
func TestStartErrors(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change   func(*config.Config)
		env      string
		settings bool
		is       error
		says     string
	}{
		"busy port":        {func(c *config.Config) { c.Listen = busy.Addr().String() }, "", false, syscall.EADDRINUSE, "hint: another program"},
		"busy admin port":  {func(c *config.Config) { c.AdminListen = busy.Addr().String() }, "", false, syscall.EADDRINUSE, "admin_listen"},
		"unknown strategy": {func(c *config.Config) { c.Strategies = []ref.Ref{{Name: "stikcy"}} }, "", true, nil, "sticky"},
		"missing plugin":   {func(c *config.Config) { c.Strategies = []ref.Ref{{Name: "/nowhere/mine"}} }, "", true, fs.ErrNotExist, "/nowhere/mine"},
		"not executable":   {func(c *config.Config) { c.Strategies = []ref.Ref{{Name: plain}} }, "", true, fs.ErrPermission, "not an executable"},
		"wrong variable":   {func(*config.Config) {}, "carrier-pigeon", true, nil, "OTEL_TRACES_EXPORTER"},
	} {
		cfg := settings("http://127.0.0.1:1")
		c.change(&cfg)
		getenv := func(name string) string {
			if name == "OTEL_TRACES_EXPORTER" {
				return c.env
			}
			return ""
		}
		d, err := Start(t.Context(), Options{Config: cfg, Logger: hclog.NewNullLogger(), Getenv: getenv})
		if err == nil {
			d.Shutdown(t.Context())
			t.Errorf("%s: it started", name)
			continue
		}
		var wrong *SettingsError
		if errors.As(err, &wrong) != c.settings || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Each strategy of a chain gets a name of its own.
func TestStrategyNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"two-choices", "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := settings()
	c.Plugins.Dir = dir
	for _, name := range []string{"sticky", "sticky", filepath.Join(dir, "mine"), "mine", filepath.Join(dir, "two-choices"), "sticky"} {
		c.Strategies = append(c.Strategies, ref.Ref{Name: name})
	}
	specs, err := processes(c, c.Strategies, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
		if s.Process.Name != s.Name {
			t.Errorf("process %s serves strategy %s", s.Process.Name, s.Name)
		}
	}
	if got, want := fmt.Sprint(names), "[sticky sticky-2 mine mine-2 two-choices-2 sticky-3]"; got != want {
		t.Errorf("names %s, want %s", got, want)
	}
	used := map[string]bool{"a": true, "a-2": true}
	if got := unused(used, "a") + unused(used, "a-2"); got != "a-3a-2-2" {
		t.Errorf("free names %s", got)
	}
}

// A head that does not come is not waited for.
func TestSlowHeads(t *testing.T) {
	d := start(t, settings(holding(t, nil)))
	defer func() {
		if err := d.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	s := d.apiServer()
	if s.ReadHeaderTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes != 2*int(d.o.Config.Limits.HeaderBytes) {
		t.Errorf("limits of the server: %v, %v, %d", s.ReadHeaderTimeout, s.IdleTimeout, s.MaxHeaderBytes)
	}
	s.ReadHeaderTimeout = 50 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api, ended := downstream.New(downstream.Options{Base: s, Handler: d, Refuse: gateway.Refuse}), make(chan error)
	go func() { ended <- api.Serve(l) }()
	slow := make(chan error)
	for range 100 {
		go func() {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				slow <- err
				return
			}
			defer c.Close()
			io.WriteString(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nX-Slow: ")
			_, err = io.Copy(io.Discard, c) // until the gateway closes
			if errors.Is(err, syscall.ECONNRESET) {
				err = nil // it closed before it had read what there was
			}
			slow <- err
		}()
	}
	if got := status(t, d, "/readyz"); got != http.StatusOK {
		t.Errorf("meanwhile: status %d", got)
	}
	for range 100 {
		if err := <-slow; err != nil {
			t.Error(err)
		}
	}
	api.Close()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
