package pool

import (
	"context"
	"fmt"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/fleet"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state"
)

// maxPools bounds the base models one gateway serves.
const maxPools = 64

// StrategySpec is one strategy of the chain and the process it runs in.
type StrategySpec struct {
	Name    string // unique in the chain
	Process plugin.Spec
	Options router.Options
	File    os.FileInfo // of the executable, as it was when it was looked up; may be nil
}

// SetConfig sets up a Set.
type SetConfig struct {
	Gateway      string
	Strategies   []StrategySpec
	Core         router.Config // Pool and Links are filled in per pool
	Store        state.Store
	Shared       bool
	SyncInterval time.Duration
	PlanTimeout  time.Duration
	Telemetry    *telemetry.Telemetry
	Logger       hclog.Logger
	// Trial begins the set for a Shadow, until Succeed: without metrics, and without
	// a part in the shared state but to read facts.
	Trial bool
}

// Set is all pools of a gateway and the processes of their strategies. One
// process per strategy serves all pools. It is safe for concurrent use.
type Set struct {
	cfg       SetConfig
	log       hclog.Logger
	processes []*plugin.Supervisor
	pools     atomic.Pointer[map[string]*Pool]
	snapshot  atomic.Pointer[fleet.Snapshot]
	running   sync.WaitGroup
	stop      chan struct{}
	telemetry atomic.Pointer[telemetry.Telemetry] // that the set speaks for now
	audience  audience

	updating sync.Mutex
	trial    bool
	opened   map[string][]*remote // by pool, one per strategy

	measuring sync.Mutex
	workers   map[string]time.Time // with metrics; when their load was last read
}

// NewSet starts the strategies' processes, all at once. A strategy that dies or
// does not become ready is logged and tried again in the background; the others
// and the built-in one route without it. One that cannot ever serve is an error:
// its executable is missing or no strategy, or it refuses its options. When ctx
// ends before all have started, that is an error too.
func NewSet(ctx context.Context, cfg SetConfig) (*Set, error) {
	s := &Set{
		cfg: cfg, log: cfg.Logger.Named("strategies"), stop: make(chan struct{}),
		processes: make([]*plugin.Supervisor, len(cfg.Strategies)),
		opened:    map[string][]*remote{}, workers: map[string]time.Time{}, trial: cfg.Trial,
	}
	s.telemetry.Store(cfg.Telemetry)
	if cfg.Trial {
		s.telemetry.Store(telemetry.Off())
	}
	s.pools.Store(&map[string]*Pool{})
	s.snapshot.Store(&fleet.Snapshot{})
	errs := make([]error, len(cfg.Strategies))
	var starting sync.WaitGroup
	for i := range cfg.Strategies {
		starting.Go(func() { errs[i] = s.start(ctx, i) })
	}
	starting.Wait()
	if err := ctx.Err(); err != nil {
		s.Close()
		return nil, fmt.Errorf("start the strategies: %w", err)
	}
	for i, err := range errs {
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("strategy %s: %w", cfg.Strategies[i].Name, err)
		}
	}
	s.running.Go(s.repair)
	return s, nil
}

// Lookup finds the pool and adapter that serve a model.
func (s *Set) Lookup(model string) (p *Pool, adapter string, ok bool) {
	name, adapter, ok := s.snapshot.Load().Lookup(model)
	if !ok {
		return nil, "", false
	}
	p, ok = (*s.pools.Load())[name]
	return p, adapter, ok
}

// Pools returns the pools by base model. The map must not be changed.
func (s *Set) Pools() map[string]*Pool { return *s.pools.Load() }

// Update brings the pools in line with the fleet.
func (s *Set) Update(snapshot *fleet.Snapshot) {
	s.updating.Lock()
	defer s.updating.Unlock()
	next := maps.Clone(*s.pools.Load())
	var models []string
	for _, m := range snapshot.Models() {
		models = append(models, m.ID)
	}
	s.telemetry.Load().Metrics.AllowModels(models...)
	for name, p := range next {
		if _, ok := snapshot.Pools()[name]; !ok {
			s.retire(next, name, p)
		}
	}
	for _, name := range snapshot.Names() {
		if next[name] == nil {
			p, err := s.open(name, len(next))
			if err != nil {
				s.log.Error("no pool for a model", "model", name, "error", err)
				continue
			}
			next[name] = p
		}
		if err := next[name].SetFleet(members(snapshot, name)); err != nil {
			s.log.Error("a fleet was refused; the one before stays", "model", name, "error", err)
		}
	}
	s.pools.Store(&next)
	s.snapshot.Store(snapshot)
	s.measure(snapshot)
}

// retire empties a pool whose model no worker has any more, and ends it once its
// requests have ended. The lock is held.
func (s *Set) retire(next map[string]*Pool, name string, p *Pool) {
	if err := p.SetFleet(nil); err != nil || p.Lives() > 0 {
		return // the next update looks again
	}
	remotes := s.opened[name]
	delete(next, name)
	delete(s.opened, name)
	s.running.Go(func() {
		p.Close()
		for _, r := range remotes {
			r.close()
		}
	})
}

// open makes a pool with an instance of every strategy that is up.
func (s *Set) open(name string, existing int) (*Pool, error) {
	if existing >= maxPools {
		return nil, fmt.Errorf("this gateway serves %d models already, its limit", maxPools)
	}
	remotes := make([]*remote, len(s.cfg.Strategies))
	for i := range remotes {
		remotes[i] = &remote{}
	}
	s.opened[name] = remotes
	p, err := New(s.poolConfig(name, s.telemetry.Load()))
	if err != nil {
		delete(s.opened, name)
		return nil, err
	}
	s.alignAll(name, p, remotes)
	return p, nil
}

// poolConfig is how the pool of an opened model is set up.
func (s *Set) poolConfig(name string, t *telemetry.Telemetry) Config {
	cfg := Config{
		Gateway: s.cfg.Gateway, Core: s.cfg.Core, Store: s.cfg.Store, Shared: s.cfg.Shared,
		SyncInterval: s.cfg.SyncInterval, PlanTimeout: s.cfg.PlanTimeout, Telemetry: t, Logger: s.cfg.Logger,
		audience: &s.audience,
	}
	cfg.Core.Pool = name
	if s.trial {
		cfg.Shared, cfg.Store = false, readOnly{s.cfg.Store}
	}
	for i, spec := range s.cfg.Strategies {
		cfg.Chain = append(cfg.Chain, Link{router.Link{Name: spec.Name}, s.opened[name][i]})
	}
	return cfg
}

// Close ends all pools, then the strategies' processes. Requests should have
// ended; those that have not are decided without strategies.
func (s *Set) Close() {
	s.updating.Lock()
	pools := *s.pools.Load()
	s.pools.Store(&map[string]*Pool{})
	s.opened = map[string][]*remote{}
	s.updating.Unlock()
	close(s.stop)
	for _, p := range pools {
		p.Close()
	}
	var closing sync.WaitGroup
	for _, p := range s.processes {
		if p != nil {
			closing.Go(p.Close)
		}
	}
	closing.Wait()
	s.running.Wait()
}
