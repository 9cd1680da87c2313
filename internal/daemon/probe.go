package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state/redis"
)

// Probed is what one probe found.
type Probed struct {
	Kind string // strategy, worker or state
	Name string
	Info string
	Err  error
}

// Detail is one line for people.
func (p Probed) Detail() string {
	if p.Err != nil {
		return strings.ReplaceAll(p.Err.Error(), "\n", " ")
	}
	return p.Info
}

// CheckStrategies says whether every strategy of the chain can be found.
func CheckStrategies(c config.Config) error {
	_, err := processes(c)
	return err
}

// Probe starts every strategy with its options and asks every worker and the
// shared state, all at once and until ctx is done. The results are in the order
// of the configuration.
func Probe(ctx context.Context, c config.Config, log hclog.Logger) []Probed {
	strategies, err := processes(c)
	if err != nil {
		return []Probed{{Kind: "strategy", Err: err}}
	}
	out := make([]Probed, len(strategies), len(strategies)+1)
	var all sync.WaitGroup
	for i, s := range strategies {
		all.Go(func() {
			info, err := probeStrategy(ctx, s.Process, s.Options)
			out[i] = Probed{"strategy", s.Name, info, err}
		})
	}
	var workers []Probed
	all.Go(func() { workers = probeWorkers(ctx, c, log) })
	var shared []Probed
	if c.State.Redis != "" {
		all.Go(func() { shared = []Probed{probeState(ctx, c)} })
	}
	all.Wait()
	return append(append(out, workers...), shared...)
}

func probeStrategy(ctx context.Context, spec plugin.Spec, options router.Options) (string, error) {
	p, err := plugin.Launch(ctx, spec)
	if err != nil {
		return "", err
	}
	defer p.Close()
	i, err := p.Open(ctx, options, 1, "check")
	if err != nil {
		return "", err
	}
	info := i.Info()
	var does []string
	for _, ability := range []struct {
		name string
		has  bool
	}{{"plans", info.Plans}, {"routes", info.Routes}, {"observes", len(info.Observes) > 0}} {
		if ability.has {
			does = append(does, ability.name)
		}
	}
	return fmt.Sprintf("version %s, %s", info.Version, strings.Join(does, ", ")), i.Close()
}

// probeWorkers watches the workers until all are up or time is over.
func probeWorkers(ctx context.Context, c config.Config, log hclog.Logger) []Probed {
	specs, err := fleet.Specs(c, router.Time(time.Now().UnixNano()))
	if err != nil {
		return []Probed{{Kind: "worker", Err: err}}
	}
	probe := c.Probe
	probe.Successes = 1
	f, err := fleet.New(specs, fleet.Options{Probe: probe, Breaker: c.Breaker, Logger: log})
	if err != nil {
		return []Probed{{Kind: "worker", Err: err}}
	}
	defer f.Close()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var out []Probed
		pending := false
		for _, w := range f.Workers() {
			p := Probed{Kind: "worker", Name: w.ID, Info: w.URL + " serves " + strings.Join(slices.Concat(w.Models, w.Adapters), ", ")}
			if !w.Up {
				pending = true
				trouble := w.Trouble
				if trouble == "" {
					trouble = "no answer"
				}
				p.Err = fmt.Errorf("%s: %s", w.URL, trouble)
			}
			out = append(out, p)
		}
		if !pending {
			return out
		}
		select {
		case <-ctx.Done():
			return out
		case <-tick.C:
		}
	}
}

func probeState(ctx context.Context, c config.Config) Probed {
	p := Probed{Kind: "state", Name: "redis"}
	store, err := redis.Open(c.State.Redis, redis.Options{Namespace: c.State.Namespace})
	if err != nil {
		p.Err = err
		return p
	}
	defer store.Close()
	now, err := store.Now(ctx)
	if err != nil {
		p.Err = err
		return p
	}
	p.Info = "its clock says " + now.UTC().Format(time.RFC3339)
	return p
}
