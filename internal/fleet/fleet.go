package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
)

// Options sets up a Fleet. Zero fields take their default.
type Options struct {
	Probe   config.Probe   // of config.Default
	Breaker config.Breaker // of config.Default
	// Transport carries the questions to workers; by default one of the fleet's
	// own, which uses no proxy.
	Transport http.RoundTripper
	// OnChange is called with each new snapshot, from one goroutine, in order:
	// after every change, and once an hour. A slow call may miss snapshots, but
	// never the newest. It must not call Close.
	OnChange func(*Snapshot)
	Logger   hclog.Logger // none
}

// Fleet watches workers. Its methods are safe for concurrent use and, but for
// Close, never wait for a worker.
type Fleet struct {
	options Options
	client  *client
	own     *http.Transport // nil if the transport was given

	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	setting  sync.Mutex // held while the set of workers changes
	stops    map[string]context.CancelFunc
	workers  atomic.Pointer[map[string]*worker] // by ID; replaced, never changed
	snapshot atomic.Pointer[Snapshot]
	dirty    chan struct{}
}

// New returns a fleet that watches the given workers until Close. Configured
// models are known from its first snapshot on. It fails on specs that Set
// refuses, and then watches nothing.
func New(specs []Spec, o Options) (*Fleet, error) {
	defaults := config.Default()
	if o.Probe == (config.Probe{}) {
		o.Probe = defaults.Probe
	}
	if o.Breaker == (config.Breaker{}) {
		o.Breaker = defaults.Breaker
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	f := &Fleet{options: o, stops: map[string]context.CancelFunc{}, dirty: make(chan struct{}, 1)}
	if o.Transport == nil {
		f.own = newTransport(o.Probe.Timeout)
		o.Transport = f.own
	}
	f.client = newClient(o.Transport)
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.workers.Store(&map[string]*worker{})
	if err := f.Set(specs); err != nil {
		f.Close()
		return nil, err
	}
	f.snapshot.Store(f.build(1))
	f.running.Go(f.publish)
	return f, nil
}

// Close stops watching and waits for all that is under way; no call of
// OnChange happens after it.
func (f *Fleet) Close() {
	f.setting.Lock() // no goroutine may be started from here on
	f.stop()
	f.setting.Unlock()
	f.running.Wait()
	if f.own != nil {
		f.own.CloseIdleConnections()
	}
}

// Set replaces the set of workers. A worker with a known ID and URL keeps its
// state; with a new URL it begins a new life; those not in specs are forgotten.
// Specs without an ID or URL, and repeated ones, are left out and make the
// error; all others are in force in any case.
func (f *Fleet) Set(specs []Spec) error {
	f.setting.Lock()
	defer f.setting.Unlock()
	if f.ctx.Err() != nil {
		return errors.New("the fleet is closed")
	}
	var errs []error
	old, next := *f.workers.Load(), make(map[string]*worker, len(specs))
	for _, s := range specs {
		id := s.Worker.ID
		if id == "" || s.URL == nil || s.URL.Host == "" {
			errs = append(errs, fmt.Errorf("worker %q has no ID or no address", id))
			continue
		}
		if next[id] != nil {
			errs = append(errs, fmt.Errorf("worker %q is there twice", id))
			continue
		}
		if w := old[id]; w != nil && w.moveTo(s) {
			next[id] = w
			continue
		}
		next[id] = newWorker(s, old[id].nextLife())
	}
	f.workers.Store(&next)
	for id, w := range old {
		if next[id] != w {
			f.stops[id]()
			delete(f.stops, id)
		}
	}
	for id, w := range next {
		if f.stops[id] == nil {
			ctx, stop := context.WithCancel(f.ctx)
			f.stops[id] = stop
			f.watch(ctx, w)
		}
	}
	f.changed()
	return errors.Join(errs...)
}

// changed asks for a new snapshot.
func (f *Fleet) changed() { wake(f.dirty) }

// renewal is the longest time between two snapshots: configured figures are
// as old as the snapshot that they are in.
const renewal = time.Hour

// publish makes snapshots until the fleet is closed.
func (f *Fleet) publish() {
	renew := time.NewTicker(renewal)
	defer renew.Stop()
	log := journal{log: f.options.Logger}
	for number := uint64(1); ; number++ {
		s := f.build(number)
		log.note(f.Workers())
		f.snapshot.Store(s)
		if f.options.OnChange != nil {
			f.options.OnChange(s)
		}
		select {
		case <-f.ctx.Done():
			return
		case <-f.dirty:
		case <-renew.C:
		}
	}
}
