package daemon

import (
	"context"
	"sync"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/fleet"
	"gatewayd/internal/gateway"
	"gatewayd/internal/pool"
	"gatewayd/pkg/router"
)

// generation is all that is made from one configuration. A request belongs to the
// one that was in force when it came, until it ends.
type generation struct {
	number  uint64
	since   time.Time
	config  config.Config
	chain   []pool.StrategySpec
	set     *pool.Set
	shadows []shadow
	fleet   *fleet.Fleet
	gateway *gateway.Server

	requests sync.WaitGroup // grows only while it is in force
	known    chan struct{}  // closed once the set knows the fleet
	once     sync.Once
}

// shadow is a chain that is asked on the side.
type shadow struct {
	*pool.Shadow
	set *pool.Set
}

// build makes a generation that may take the place of another one, or of none.
// With wrong settings it fails with a *SettingsError.
func (d *Daemon) build(ctx context.Context, c config.Config, swapped map[string]string, old *generation) (g *generation, err error) {
	g = &generation{config: c, since: time.Now(), known: make(chan struct{})}
	defer func() {
		if err == nil {
			return
		}
		g.close()
		if ctx.Err() == nil {
			err = &SettingsError{err}
		}
	}()
	if g.chain, err = processes(c, c.Strategies, swapped); err != nil {
		return g, err
	}
	specs, err := fleet.Specs(c, router.Time(time.Now().UnixNano()))
	if err != nil {
		return g, err
	}
	setup := d.setConfig(c, g.chain)
	setup.Trial = old != nil
	if g.set, err = pool.NewSet(ctx, setup); err != nil {
		return g, err
	}
	for _, chain := range c.Shadow {
		if err = d.addShadow(ctx, g, chain); err != nil {
			return g, err
		}
	}
	o := fleet.Options{
		Probe: c.Probe, Breaker: c.Breaker, WorkerCAs: c.TLS.WorkerCAs, Sources: fleet.Sources(c, nil),
		OnChange: g.update, Logger: d.log.Named("fleet"),
	}
	if old != nil {
		o.From = old.fleet
	}
	if g.fleet, err = fleet.New(specs, o); err != nil {
		return g, err
	}
	g.gateway = gateway.New(gateway.Options{
		Config: c, Pools: g.set, Workers: g.fleet, Telemetry: d.telemetry, Logger: d.log, Recorder: d.recorder,
	})
	<-g.known
	return g, nil
}

// update tells the pools of the fleet.
func (g *generation) update(s *fleet.Snapshot) {
	g.set.Update(s)
	for _, shadow := range g.shadows {
		shadow.set.Update(s)
	}
	g.once.Do(func() { close(g.known) })
}

// showShadows lets the shadows see the requests, and one more beside those of the
// configuration.
func (g *generation) showShadows(more ...*pool.Shadow) {
	for _, s := range g.shadows {
		more = append(more, s.Shadow)
	}
	g.set.SetShadows(more...)
}

// close ends what belongs to the generation, which has no requests any more.
func (g *generation) close() {
	if g.fleet != nil {
		g.fleet.Close()
	}
	for _, s := range g.shadows {
		s.Close()
		s.set.Close()
	}
	if g.set != nil {
		g.set.Close()
	}
	if g.gateway != nil {
		g.gateway.Close()
	}
}

// enter returns the generation in force; the caller must end its request there.
func (d *Daemon) enter() *generation {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now.requests.Add(1)
	return d.now
}

// Serve answers one request of the API.
func (d *Daemon) Serve(w downstream.Writer, r *downstream.Request) {
	g := d.enter()
	defer g.requests.Done()
	g.gateway.Serve(w, r)
}

// generations returns the generation in force, and those before it that still
// have requests.
func (d *Daemon) generations() (now *generation, before []*generation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now, append([]*generation(nil), d.before...)
}

// loads takes over the workers' scraped figures a few times a second.
func (d *Daemon) loads(ctx context.Context) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now, before := d.generations()
		all := append(before, now)
		for i, g := range all {
			var beside []*pool.Set
			for j, other := range all {
				if j != i {
					beside = append(beside, other.set)
				}
			}
			g.set.Loads(g.fleet, beside...)
		}
	}
}

// retire closes a generation that is not in force any more, once its requests
// have ended.
func (d *Daemon) retire(g *generation) {
	d.retiring.Go(func() {
		g.requests.Wait()
		g.close()
		d.mu.Lock()
		defer d.mu.Unlock()
		for i, other := range d.before {
			if other == g {
				d.before = append(d.before[:i:i], d.before[i+1:]...)
				break
			}
		}
		d.telemetry.Metrics.SetDraining(len(d.before))
		d.log.Info("an earlier configuration has no requests any more", "number", g.number)
	})
}
