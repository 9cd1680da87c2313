// Package daemon puts a gateway together from its configuration and takes it
// apart again in the right order.
//
// Reading order: daemon.go (from settings to parts), generation.go (what belongs
// to one configuration), servers.go (listeners and the end), reload.go and watch.go
// (from one configuration to the next), shadows.go, strategies.go (where strategies
// come from), probe.go (a look at everything that the configuration names).
package daemon

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/admin"
	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/gateway"
	"gatewayd/internal/pool"
	"gatewayd/internal/record"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/router"
	"gatewayd/state"
	"gatewayd/state/memory"
	"gatewayd/state/redis"
)

// Options sets up a Daemon.
type Options struct {
	Config  config.Config // valid
	Version string
	Logger  hclog.Logger
	// Getenv reads the OTEL_* variables; nil means the process's environment.
	Getenv func(string) string
	// Store is used instead of the one that Config names.
	Store state.Store
	// Load reads the configuration anew for Reload; nil: it stays Config.
	Load func() (config.Config, error)
	// File is watched with the certificates that Config names, and changes are
	// reloaded; "" watches none. Text is what File held when Config was read.
	File string
	Text []byte
}

// Daemon is a running gateway.
type Daemon struct {
	o         Options
	log       hclog.Logger
	name      string // among its peers
	seed      uint64
	telemetry *telemetry.Telemetry
	store     state.Store
	recorder  *record.Recorder // nil if traffic is not written down
	token     config.Secret    // of the admin listener

	certificate atomic.Pointer[tls.Certificate] // of the API; nil if it has no TLS

	changing    sync.Mutex        // held while another configuration comes into force
	swapped     map[string]string // executables by strategy, by Swap
	registering sync.Mutex        // held while a worker is registered or removed

	mu       sync.Mutex
	now      *generation
	before   []*generation // that still have requests, the oldest first
	refused  string        // why the newest configuration is not in force
	retiring sync.WaitGroup

	api                *downstream.Server
	admin              *http.Server
	apiAddr, adminAddr net.Addr
	failed             chan error
	life               context.Context // ends when Shutdown begins
	die, stop          context.CancelFunc
	running            sync.WaitGroup
}

// SettingsError is an error that other settings mend: a strategy that there is
// not, an option it does not know, a variable that makes no sense.
type SettingsError struct{ Err error }

// Error returns the message of what is wrong.
func (e *SettingsError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong, and that the settings were refused.
func (e *SettingsError) Unwrap() []error { return []error{e.Err, admin.ErrRefused} }

// Start starts a gateway. It serves when Start returns; workers may still be
// unknown then (see /readyz). It fails with a *SettingsError if the settings are
// to blame, and with ctx's error if that ends before the strategies have started.
func Start(ctx context.Context, o Options) (_ *Daemon, err error) {
	d := &Daemon{o: o, log: o.Logger, name: name(), seed: seed(o.Config.Seed), swapped: map[string]string{}, failed: make(chan error, 2)}
	d.certificate.Store(o.Config.TLS.Certificate)
	d.life, d.die = context.WithCancel(context.Background())
	undo := []func(){d.die}
	defer func() {
		if err != nil {
			for i := len(undo) - 1; i >= 0; i-- {
				undo[i]()
			}
		}
	}()
	if _, err = processes(o.Config, o.Config.Strategies, nil); err != nil {
		return nil, &SettingsError{err}
	}
	d.telemetry, err = telemetry.Setup(ctx, telemetry.Options{Version: o.Version, Getenv: o.Getenv, Logger: o.Logger})
	if err != nil {
		return nil, &SettingsError{err}
	}
	undo = append(undo, func() { d.telemetry.Shutdown(context.Background()) })
	api, err := listen("listen", o.Config.Listen)
	if err != nil {
		return nil, err
	}
	undo = append(undo, func() { api.Close() })
	d.apiAddr = api.Addr()
	var adminListener net.Listener
	if o.Config.AdminListen != "" {
		if adminListener, err = listen("admin_listen", o.Config.AdminListen); err != nil {
			return nil, err
		}
		undo = append(undo, func() { adminListener.Close() })
		d.adminAddr = adminListener.Addr()
		if err = d.openToken(); err != nil {
			return nil, &SettingsError{err}
		}
	}
	if err = d.openStore(); err != nil {
		return nil, &SettingsError{err}
	}
	undo = append(undo, func() { d.store.Close() })
	if err = d.openRecorder(); err != nil {
		return nil, &SettingsError{err}
	}
	undo = append(undo, d.closeRecorder)
	if d.now, err = d.build(ctx, o.Config, d.swapped, nil); err != nil {
		return nil, err
	}
	d.now.number = 1
	d.now.showShadows()
	d.serve(api, adminListener)
	return d, nil
}

func listen(setting, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\nhint: another program may have the port; name another address, or port 0 for a free one", setting, addr, err)
	}
	return l, nil
}

// openToken finds out what the admin listener asks for. Without a place for the
// token nobody knows it.
func (d *Daemon) openToken() (err error) {
	file := d.o.Config.AdminToken
	if file == "" {
		if file, err = admin.TokenFile(); err == nil {
			d.token, err = admin.OpenToken(file)
		}
		if err != nil {
			d.token = admin.NewToken()
			d.log.Warn("there is no place for the admin token: only metrics and health are served; set admin_token_file", "error", err)
		}
		return nil
	}
	d.token, err = admin.OpenToken(file)
	return err
}

func (d *Daemon) openStore() (err error) {
	switch c := d.o.Config.State; {
	case d.o.Store != nil:
		d.store = d.o.Store
	case !c.Redis.Empty():
		d.store, err = redis.Open(c.Redis.Reveal(), redis.Options{Namespace: c.Namespace})
	default:
		d.store = memory.New(memory.Options{})
	}
	return err
}

// openRecorder begins to write traffic down, if a file is named for it.
func (d *Daemon) openRecorder() (err error) {
	c := d.o.Config.Record
	if c.File == "" {
		return nil
	}
	salt := record.NewSalt()
	if c.SaltFile != "" {
		if salt, err = record.LoadSalt(c.SaltFile); err != nil {
			return err
		}
	}
	d.recorder, err = record.Open(record.Options{
		Config: c, Salt: salt, BlockBytes: gateway.BlockBytes, Metrics: d.telemetry.Metrics, Logger: d.log.Named("record"),
	})
	return err
}

func (d *Daemon) shared() bool { return d.o.Store != nil || !d.o.Config.State.Redis.Empty() }

func (d *Daemon) setConfig(c config.Config, strategies []pool.StrategySpec) pool.SetConfig {
	core := router.Config{
		Seed: d.seed, PlanInterval: c.Plan.Interval, AskDeadline: c.Plugins.DecisionTimeout,
		MaxAttempts: c.Limits.Attempts, MaxQueue: c.Limits.Queue, MaxWait: c.Limits.QueueWait,
		MaxLife: c.Timeouts.Total + time.Minute, FetchDeadline: c.State.LookupBudget,
	}
	if core.MaxQueue == 0 {
		core.MaxQueue = -1 // none, where 0 is the core's default
	}
	return pool.SetConfig{
		Gateway: d.name, Strategies: strategies, Core: core, Store: d.store, Shared: d.shared(),
		SyncInterval: c.State.SyncInterval, PlanTimeout: 10 * time.Second, Telemetry: d.telemetry, Logger: d.log,
	}
}

// seed and name differ between gateways, so that two of them do not draw alike
// and no two share a name. With a configured number the core draws as that of a
// simulation with the same seed.
func seed(configured int) uint64 {
	if configured > 0 {
		return router.Mix(uint64(configured) ^ router.HashID("core"))
	}
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return router.HashID(string(b[:]))
}

func name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "gateway"
	}
	var b [6]byte
	rand.Read(b[:])
	return host + "-" + hex.EncodeToString(b[:])
}

// Addr returns the address that the API is served at.
func (d *Daemon) Addr() string { return d.apiAddr.String() }

// AdminAddr returns the address of the admin listener, "" if there is none.
func (d *Daemon) AdminAddr() string {
	if d.adminAddr == nil {
		return ""
	}
	return d.adminAddr.String()
}

// Set returns the pools of the configuration in force, for tests and reports.
func (d *Daemon) Set() *pool.Set {
	now, _ := d.generations()
	return now.set
}

// Pools returns the pools in force by base model.
func (d *Daemon) Pools() map[string]*pool.Pool { return d.Set().Pools() }

// Processes returns the state of the strategies' processes, in the chain's order.
func (d *Daemon) Processes() []pool.ProcessState { return d.Set().Processes() }

// Failed receives an error when a listener breaks.
func (d *Daemon) Failed() <-chan error { return d.failed }
