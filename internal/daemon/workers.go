package daemon

import (
	"fmt"
	"time"

	"gatewayd/internal/admin"
	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
	"gatewayd/pkg/router"
)

// Workers returns the state of the workers, ordered by ID.
func (d *Daemon) Workers() []fleet.Status {
	now, _ := d.generations()
	return now.fleet.Workers()
}

// Sources returns the state of the places where workers are found.
func (d *Daemon) Sources() []fleet.SourceStatus {
	now, _ := d.generations()
	return now.fleet.Sources()
}

// Register adds a worker that the configuration does not name, until it is removed
// or the gateway ends. It fails with admin.ErrRefused on one that check would
// refuse and at an address that discovery.register does not admit. A change of the
// configuration that is under way takes the worker over.
func (d *Daemon) Register(w config.Worker) error {
	d.registering.Lock()
	defer d.registering.Unlock()
	now, _ := d.generations()
	c := now.config
	if err := c.Fits([]config.Worker{w}); err != nil {
		return fmt.Errorf("%w: %w", admin.ErrRefused, err)
	}
	u, err := config.ParseURL(w.URL)
	if err != nil {
		return fmt.Errorf("%w: url %w", admin.ErrRefused, err)
	}
	if err := c.Discovery.Admits(u); err != nil {
		return fmt.Errorf("%w: %w", admin.ErrRefused, err)
	}
	c.Workers = []config.Worker{w}
	specs, err := fleet.Specs(c, router.Time(time.Now().UnixNano()))
	if err != nil {
		return fmt.Errorf("%w: %w", admin.ErrRefused, err)
	}
	if err := now.fleet.Register(w.Name(), specs); err != nil {
		return fmt.Errorf("%w: %w", admin.ErrRefused, err)
	}
	return nil
}

// Remove forgets a worker that was registered, likewise.
func (d *Daemon) Remove(id string) error {
	d.registering.Lock()
	defer d.registering.Unlock()
	now, _ := d.generations()
	if !now.fleet.Remove(id) {
		return fmt.Errorf("%w: no worker %.100q was registered; others leave with the configuration or with where they were found", admin.ErrRefused, id)
	}
	return nil
}

// Drain keeps new requests away from a worker, or lets them come again, at once: a
// change under way takes it over.
func (d *Daemon) Drain(id string, on bool) error {
	now, _ := d.generations()
	if !now.fleet.Drain(id, on) {
		return fmt.Errorf("%w: there is no worker %.100q", admin.ErrRefused, id)
	}
	return nil
}
