package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/admin"
	"gatewayd/internal/config"
	"gatewayd/internal/pool"
)

// maxBefore bounds the earlier configurations that still have requests.
const maxBefore = 4

// ErrBusy means that too many earlier configurations still have requests.
var ErrBusy = fmt.Errorf("%d earlier configurations still have requests", maxBefore)

// Config returns the state of the configuration.
func (d *Daemon) Config() admin.Change {
	d.mu.Lock()
	defer d.mu.Unlock()
	return admin.Change{Number: d.now.number, Since: d.now.since, Before: len(d.before), Error: d.refused}
}

// Reload reads the configuration anew and puts it in force, with the executables
// of strategies as they are now. It does so whole or not at all: when it fails,
// all is as before. Requests under way end by the configuration they began with.
// The error is a *SettingsError if the settings are to blame.
func (d *Daemon) Reload(ctx context.Context) error {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	c, swapped := d.now.config, d.swapped
	if d.o.Load != nil {
		if c, err = d.o.Load(); err != nil {
			err = &SettingsError{err}
		}
	}
	if err == nil {
		err = d.change(ctx, c, swapped, "")
	}
	return d.note("configuration", err)
}

// Swap starts a strategy's process anew, from another executable if path is not
// empty, and lets it take the old one's place as Reload does. The other executable
// stays the strategy's until the gateway ends or it is swapped again.
func (d *Daemon) Swap(ctx context.Context, strategy, path string) error {
	ctx, done, err := d.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if names := names(d.now.chain); !slices.Contains(names, strategy) {
		return &SettingsError{fmt.Errorf("no strategy of the chain is called %q; it has %s", strategy, strings.Join(names, ", "))}
	}
	swapped := maps.Clone(d.swapped)
	if path != "" {
		swapped[strategy] = path
	}
	err = d.change(ctx, d.now.config, swapped, strategy)
	if err == nil {
		d.swapped = swapped
	}
	return d.note("strategy "+strategy, err)
}

// begin waits for its turn to change the configuration; done ends it. The end of
// the gateway ends ctx.
func (d *Daemon) begin(ctx context.Context) (_ context.Context, done func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(d.life, cancel)
	d.changing.Lock()
	done = func() {
		d.changing.Unlock()
		stop()
		cancel()
	}
	if err := errors.Join(d.life.Err(), ctx.Err()); err != nil {
		done()
		return nil, nil, fmt.Errorf("the gateway is stopping: %w", err)
	}
	return ctx, done, nil
}

// note keeps and tells how a change ended.
func (d *Daemon) note(what string, err error) error {
	d.telemetry.Metrics.Reloaded(err == nil)
	said := ""
	if err != nil {
		said = strings.ReplaceAll(err.Error(), "\n", "; ")
		d.log.Error("a change was refused; all is as before", "of", what, "error", said)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = said
	return err
}

// change puts a configuration in force, with a new process of the strategy that is
// forced in any case. Where none is ("") and nothing has changed, all is left alone.
func (d *Daemon) change(ctx context.Context, c config.Config, swapped map[string]string, forced string) error {
	old, before := d.generations()
	if err := changeable(old.config, c); err != nil {
		return &SettingsError{err}
	}
	if len(before) >= maxBefore {
		return fmt.Errorf("%w\nhint: try again when some have ended; /config of the admin listener counts them", ErrBusy)
	}
	chain, err := processes(c, c.Strategies, swapped)
	if err != nil {
		return &SettingsError{err}
	}
	same := slices.EqualFunc(chain, old.chain, sameProcess)
	if same && forced == "" && c.Same(old.config) {
		d.log.Info("the configuration has not changed", "number", old.number)
		return nil
	}
	g, err := d.build(ctx, c, swapped, old)
	if err != nil {
		return err
	}
	must := fresh(chain, old.chain)
	must[forced] = true
	if err := d.try(ctx, g, old, !same || forced != "", must); err != nil {
		g.close()
		return err
	}
	if err := g.set.Succeed(old.set, func() { d.turn(g, old) }); err != nil {
		g.close()
		return &SettingsError{err}
	}
	old.set.SetShadows()
	g.showShadows()
	d.retire(old)
	d.log.SetLevel(hclog.LevelFromString(c.Log.Level))
	d.log.Info("another configuration is in force", "number", g.number, "workers", len(c.Workers), "chain", strings.Join(g.set.Strategies(), " -> "))
	return nil
}

// turn is the one point from which on requests belong to g.
func (d *Daemon) turn(g, old *generation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g.number = old.number + 1
	d.now, d.before = g, append(d.before, old)
	d.certificate.Store(g.config.TLS.Certificate)
	d.telemetry.Metrics.SetDraining(len(d.before))
}

// changeable says which setting cannot change while the gateway runs.
func changeable(a, b config.Config) error {
	for _, s := range []struct {
		name string
		same bool
	}{
		{"listen", a.Listen == b.Listen},
		{"admin_listen", a.AdminListen == b.AdminListen},
		{"admin_token_file", a.AdminToken == b.AdminToken},
		{"whether the API has TLS", (a.TLS.CertFile == "") == (b.TLS.CertFile == "")},
		{"limits.header_bytes", a.Limits.HeaderBytes == b.Limits.HeaderBytes},
		{"state.redis", a.State.Redis.Reveal() == b.State.Redis.Reveal()},
		{"state.namespace", a.State.Namespace == b.State.Namespace},
		{"seed", a.Seed == b.Seed},
		{"record", a.Record == b.Record},
		{"log.format", a.Log.Format == b.Log.Format},
	} {
		if !s.same {
			return fmt.Errorf("%s cannot change while the gateway runs\nhint: undo the change, or restart the gateway", s.name)
		}
	}
	return nil
}

// try lets a new generation show, beside the one in force, that its strategies
// serve; those that changed are asked about live requests for a while. Workers that
// are new are waited for until they were checked. A strategy that must serve is not
// excused because the one before it does not.
func (d *Daemon) try(ctx context.Context, g, old *generation, changed bool, must map[string]bool) error {
	g.set.Warm(old.set)
	s := pool.NewShadow(g.set, nil)
	defer s.Close()
	if changed {
		old.showShadows(s)
		defer old.showShadows()
	}
	p, began := g.config.Plugins, time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		r, took := s.Report(), time.Since(began)
		late := took >= p.TrialTime+p.StartTimeout
		trouble, lasts := g.set.Trouble(old.set, must)
		enough := !changed || r.Decisions >= uint64(p.TrialDecisions) || took >= p.TrialTime
		switch {
		case trouble != "" && (lasts || late):
			return errors.New(trouble)
		case trouble != "" || !enough || !late && !g.fleet.Checked():
		case 2*r.Missed > r.Decisions:
			return fmt.Errorf("the strategies were asked in vain in %d of %d trial decisions", r.Missed, r.Decisions)
		default:
			if changed {
				d.log.Info("the new strategies were tried", "decisions", r.Decisions, "agreed", r.Agreed)
			}
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
