package daemon

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
