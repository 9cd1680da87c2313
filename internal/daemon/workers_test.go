package daemon

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatewayd/internal/admin"
	"gatewayd/internal/config"
)

// up returns the IDs of the workers that take requests for model m: the pool learns
// a moment after the fleet what has become of them.
func up(d *Daemon) string {
	var ids []string
	if p := d.Pools()["m"]; p != nil {
		for _, m := range p.Loads() {
			if !m.Down {
				ids = append(ids, m.ID)
			}
		}
	}
	return strings.Join(ids, " ")
}

// Workers are found in a file, registered, drained and removed while the gateway
// runs, and stay over a reload; what is not admitted is refused.
func TestWorkersComeAndGo(t *testing.T) {
	first, second := holding(t, nil), holding(t, nil)
	host := strings.TrimPrefix(first, "http://")
	file := filepath.Join(t.TempDir(), "workers.json")
	if err := os.WriteFile(file, []byte(`[{"targets":["`+host+`"]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := settings()
	c.Discovery.Sources = []config.Source{{File: file}}
	c.Discovery.Register = []string{"127.0.0.0/8"}
	settings := &source{now: c}
	d := startFrom(t, settings)
	if s := d.Sources(); len(s) != 1 || s[0].Workers != 1 || s[0].Error != "" || up(d) != host {
		t.Errorf("sources %+v, workers %s", s, up(d))
	}
	for _, w := range []config.Worker{
		{URL: "http://169.254.169.254", ID: "w"}, {URL: "http://localhost:1", ID: "w"}, {URL: "ftp://127.0.0.1", ID: "w"}, {URL: second, ID: "w", Zone: "nowhere"}, {},
	} {
		if err := d.Register(w); !errors.Is(err, admin.ErrRefused) {
			t.Errorf("%+v: %v", w, err)
		}
	}
	if err := d.Register(config.Worker{URL: second, ID: "w"}); err != nil {
		t.Fatal(err)
	}
	until(t, "the registered worker", func() bool { return up(d) == host+" w" })
	c.Limits.Queue++
	settings.set(c)
	if err := d.Reload(t.Context()); err != nil || d.Config().Number != 2 {
		t.Fatal(err, d.Config())
	}
	if up(d) != host+" w" {
		t.Errorf("after a reload there are %s", up(d))
	}
	if err := d.Drain(host, true); err != nil {
		t.Error(err)
	}
	until(t, "the first to drain", func() bool { return up(d) == "w" })
	for range 10 {
		resp, err := post(d, hello)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if by := resp.Header.Get("X-Gatewayd-Worker"); resp.StatusCode != http.StatusOK || by != "w" {
			t.Errorf("status %d by %s", resp.StatusCode, by)
		}
	}
	if err := d.Drain(host, false); err != nil {
		t.Error(err)
	}
	if err := d.Remove("w"); err != nil {
		t.Error(err)
	}
	until(t, "the first alone", func() bool { return up(d) == host })
	if err, other := d.Remove(host), d.Drain("none", true); !errors.Is(err, admin.ErrRefused) || !errors.Is(other, admin.ErrRefused) {
		t.Errorf("what is not registered: %v; what is not there: %v", err, other)
	}
}

// Workers come and go while a reload is tried, which takes them over.
func TestWorkersComeAndGoDuringAReload(t *testing.T) {
	asked, release := make(chan struct{}, 1), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(slow.Close)
	c := settings()
	c.Workers = []config.Worker{{URL: holding(t, nil), ID: "first"}}
	c.Discovery.Register = []string{"127.0.0.0/8"}
	c.Plugins.StartTimeout, c.Probe.Timeout = time.Hour, time.Hour
	settings := &source{now: c}
	d := startFrom(t, settings)
	if err := d.Register(config.Worker{URL: holding(t, nil), ID: "before"}); err != nil {
		t.Fatal(err)
	}
	until(t, "the registered worker", func() bool { return up(d) == "before first" })
	c.Workers = append(c.Workers, config.Worker{URL: slow.URL, ID: "slow"})
	settings.set(c)
	reloaded := make(chan error, 1)
	go func() { reloaded <- d.Reload(t.Context()) }()
	<-asked
	if err := d.Register(config.Worker{URL: holding(t, nil), ID: "while"}); err != nil {
		t.Error(err)
	}
	if err := d.Remove("before"); err != nil {
		t.Error(err)
	}
	until(t, "the worker that came while the reload is tried", func() bool { return up(d) == "first while" })
	if n := d.Config().Number; n != 1 {
		t.Errorf("the reload was not under way any more: configuration %d is in force", n)
	}
	close(release)
	if err := <-reloaded; err != nil || d.Config().Number != 2 {
		t.Fatal(err, d.Config())
	}
	until(t, "it in the next configuration", func() bool { return up(d) == "first while" })
}
