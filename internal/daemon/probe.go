package daemon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
	"gatewayd/state/redis"
)

// Probed is what one probe found.
type Probed struct {
	Kind string // strategy, worker, source or state
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

// CheckStrategies says whether every strategy of the chain can be found, and
// whether those of this executable take their options. Others are asked when
// they run.
func CheckStrategies(c config.Config) error {
	specs, err := processes(c, c.Strategies, nil)
	if err != nil {
		return err
	}
	for _, s := range specs {
		if len(s.Process.Args) == 0 {
			continue
		}
		definition, err := strategies.Find(s.Process.Strategy)
		if err == nil {
			_, err = definition.New(s.Options, 1)
		}
		if err != nil {
			return fmt.Errorf("strategy %s: %w", s.Name, err)
		}
	}
	return nil
}

// Probe starts every strategy with its options and asks every worker and the
// shared state, all at once and until ctx is done. The results are in the order
// of the configuration.
func Probe(ctx context.Context, c config.Config) []Probed {
	chain, err := processes(c, c.Strategies, nil)
	if err != nil {
		return []Probed{{Kind: "strategy", Err: err}}
	}
	out := make([]Probed, len(chain), len(chain)+1)
	var all sync.WaitGroup
	for i, s := range chain {
		all.Go(func() {
			info, err := probeStrategy(ctx, s.Process, s.Options)
			out[i] = Probed{"strategy", s.Name, info, err}
		})
	}
	var workers []Probed
	all.Go(func() { workers = append(probeWorkers(ctx, c), probeSources(ctx, c)...) })
	var shared []Probed
	if !c.State.Redis.Empty() {
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

// probeWorkers looks at every worker once.
func probeWorkers(ctx context.Context, c config.Config) []Probed {
	specs, err := fleet.Specs(c, router.Time(time.Now().UnixNano()))
	if err != nil {
		return []Probed{{Kind: "worker", Err: err}}
	}
	transport := fleet.NewTransport(c.Probe.Timeout, c.TLS.WorkerCAs)
	defer transport.CloseIdleConnections()
	out := make([]Probed, len(specs))
	var all sync.WaitGroup
	for i, spec := range specs {
		all.Go(func() {
			w := fleet.Probe(ctx, spec, c.Probe, transport)
			out[i] = Probed{Kind: "worker", Name: w.ID, Info: w.URL + " serves " + strings.Join(slices.Concat(w.Models, w.Adapters), ", ")}
			if !w.Up {
				out[i].Err = fmt.Errorf("%s: %s", w.URL, cmp.Or(w.Trouble, "no answer"))
			}
		})
	}
	all.Wait()
	return out
}

// probeSources looks once at every place where workers are found.
func probeSources(ctx context.Context, c config.Config) []Probed {
	var out []Probed
	for _, s := range fleet.Sources(c, nil) {
		p := Probed{Kind: "source", Name: s.Name}
		found, err := s.Find(ctx)
		if p.Err = err; err == nil {
			p.Info = fmt.Sprintf("has %d workers", len(found))
		}
		out = append(out, p)
	}
	return out
}

func probeState(ctx context.Context, c config.Config) Probed {
	p := Probed{Kind: "state", Name: "redis"}
	store, err := redis.Open(c.State.Redis.Reveal(), redis.Options{Namespace: c.State.Namespace})
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
