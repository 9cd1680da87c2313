package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// Of two gateways that share a store one is reloaded again and again under load: no
// request fails, it stays one gateway to the other, one of them plans by versions
// that grow, and in the end no worker carries anything.
func TestReloadBesideAnotherGateway(t *testing.T) {
	c := settings()
	patient(&c)
	for i := range 3 {
		c.Workers = append(c.Workers, config.Worker{URL: holding(t, nil), ID: fmt.Sprint("w", i)})
	}
	c.Strategies = []ref.Ref{{Name: "cacheroute", Options: map[string]string{"interval": "1s"}}, {Name: "sticky"}}
	c.State.SyncInterval = 20 * time.Millisecond
	shared := memory.New(memory.Options{})
	s := &source{now: c}
	var both []*Daemon
	for range 2 {
		d, err := Start(t.Context(), Options{
			Config: c, Logger: hclog.NewNullLogger(), Getenv: func(string) string { return "" }, Load: s.load, Store: shared,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
		until(t, "readiness", func() bool { return status(t, d, "/readyz") == http.StatusOK })
		both = append(both, d)
	}
	version := func(d *Daemon) (v uint64) {
		for _, p := range d.Pools()["m"].Plans() {
			v = max(v, p.Plan.Version)
		}
		return v
	}
	var loads []*load
	for g, d := range both {
		loads = append(loads, begin(t, d, 2, func(client, n int) (string, http.Header) {
			return hello, http.Header{"X-Session-Id": {fmt.Sprint("g", g, "s", (client*10+n)%20)}}
		}))
	}
	until(t, "a plan in both", func() bool { return version(both[0]) > 0 && version(both[1]) > 0 })
	newest := uint64(0)
	for range 4 {
		c.Limits.Queue++
		s.set(c)
		var err error
		until(t, "earlier configurations to end", func() bool { err = both[0].Reload(t.Context()); return !errors.Is(err, ErrBusy) })
		if err != nil {
			t.Fatal(err)
		}
		if v := version(both[0]); v < newest {
			t.Errorf("after a reload plan %d is in force, before it was %d", v, newest)
		} else {
			newest = v
		}
		for _, l := range loads {
			l.more(t, 20)
		}
	}
	until(t, "a newer plan in both", func() bool { return version(both[0]) > newest && version(both[1]) > newest })
	until(t, "one gateway that plans", func() bool {
		return both[0].Pools()["m"].IsPlanner() != both[1].Pools()["m"].IsPlanner()
	})
	for _, l := range loads {
		l.end()
	}
	for i, d := range both {
		until(t, "the other gateway alone to be known", func() bool { return len(d.Pools()["m"].Peers()) == 1 })
		until(t, "workers without requests", func() bool { return carried(d.Pools()["m"].Loads()) == 0 })
		if n := d.Config(); i == 0 && n.Number != 5 {
			t.Errorf("%+v", n)
		}
	}
}

func carried(workers []router.Member) (n int) {
	for _, w := range workers {
		n += w.Load.InFlight
	}
	return n
}
