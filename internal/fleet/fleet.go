package fleet

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

// Options sets up a Fleet. Zero fields take their default.
type Options struct {
	Probe   config.Probe   // of config.Default
	Breaker config.Breaker // of config.Default
	// Transport carries the questions to workers; by default one of the fleet's
	// own, which uses no proxy.
	Transport http.RoundTripper
	// WorkerCAs sign the certificates of workers; nil means the system's.
	WorkerCAs *x509.CertPool
	// Sources are where further workers are found, as by Discover.
	Sources []Source
	// OnChange is called with each new snapshot, from one goroutine, in order:
	// after every change, and once an hour. A slow call may miss snapshots, but
	// never the newest. It must not call Close.
	OnChange func(*Snapshot)
	// From is the fleet whose place this one takes: what it knows of workers that
	// both have is known from the start. It goes on by itself.
	From   *Fleet
	Logger hclog.Logger // none
}

// Fleet watches workers. Its methods are safe for concurrent use and, but for
// Close, never wait for a worker.
type Fleet struct {
	options Options
	client  *client
	own     *http.Transport // nil if the transport was given

	began   router.Time
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	setting    sync.Mutex // held while the set of workers changes
	stops      map[string]context.CancelFunc
	set        []Spec // by Set
	registered []registration
	finds      []*find             // by Discover, in order
	next       weak.Pointer[Fleet] // that is to take this one's place
	unlook     context.CancelFunc
	workers    atomic.Pointer[map[string]*worker] // by ID; replaced, never changed
	snapshot   atomic.Pointer[Snapshot]
	dirty      chan struct{}
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
		f.own = NewTransport(o.Probe.Timeout, o.WorkerCAs)
		o.Transport = f.own
	}
	f.client = newClient(o.Transport)
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.unlook = func() {}
	if f.began = now(); o.From != nil {
		f.began = o.From.began
	}
	f.setting.Lock() // a drain or a registration waits until the workers are there
	heirs, log := o.From.heirs(f), journal{log: o.Logger}
	log.know(heirs)
	f.finds, f.registered = o.From.found()
	f.options.From = nil // it may be forgotten
	f.workers.Store(&heirs)
	err := f.put(specs)
	f.setting.Unlock()
	if err != nil {
		f.Close()
		return nil, err
	}
	f.snapshot.Store(f.build(1))
	f.running.Go(func() { f.publish(log) })
	f.Discover(o.Sources)
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

// Set replaces the workers that are named, not those that are found. A worker
// with a known ID and URL keeps its state; with a new URL it begins a new life;
// those not in specs are forgotten. Specs without an ID or URL, and repeated
// ones, are left out and make the error; all others are in force in any case.
func (f *Fleet) Set(specs []Spec) error {
	f.setting.Lock()
	defer f.setting.Unlock()
	if f.ctx.Err() != nil {
		return errClosed
	}
	return f.put(specs)
}

var errClosed = errors.New("the fleet is closed")

// put is Set with the lock held.
func (f *Fleet) put(specs []Spec) error {
	f.set = slices.Clone(specs)
	left := f.merge()
	f.tellLeft(left[1])
	return left[0]
}

// tellLeft logs which registered workers are left out, if any are.
func (f *Fleet) tellLeft(err error) {
	if err != nil {
		f.options.Logger.Warn("a registered worker is left out", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// merge puts the workers that are named, registered and found into force, and
// returns what was left out of those that are named and of those that are
// registered. The lock is held.
func (f *Fleet) merge() (left [2]error) {
	origins := [][]Spec{f.set, specsOf(f.registered)}
	for _, found := range f.finds {
		origins = append(origins, found.specs)
	}
	all, errs := unite(origins)
	for i, found := range f.finds {
		found.left = errs[len(left)+i]
	}
	f.tell()
	f.enforce(all)
	return [2]error(errs)
}

// unite joins the workers of all origins by ID, of several with one ID the first,
// and returns what was left out of each origin.
func unite(origins [][]Spec) (all map[string]Spec, left []error) {
	all = map[string]Spec{}
	for _, specs := range origins {
		var wrong []error
		for _, s := range specs {
			switch id := s.Worker.ID; {
			case id == "" || s.URL == nil || s.URL.Host == "":
				wrong = append(wrong, fmt.Errorf("worker %q has no ID or no address", id))
			case all[id].URL != nil:
				wrong = append(wrong, fmt.Errorf("worker %q is there twice", id))
			case len(all) >= maxWorkers:
				wrong = append(wrong, fmt.Errorf("worker %q is one more than the %d that a gateway watches", id, maxWorkers))
			default:
				all[id] = s
			}
		}
		if len(wrong) > mostWrong {
			wrong = append(wrong[:mostWrong], fmt.Errorf("and %d more", len(wrong)-mostWrong))
		}
		left = append(left, errors.Join(wrong...))
	}
	return all, left
}

const (
	maxWorkers = 4096 // watched by one gateway
	mostWrong  = 10   // workers named in one error
)

// enforce makes specs, by ID, the set of workers. The lock is held.
func (f *Fleet) enforce(specs map[string]Spec) {
	old, next := *f.workers.Load(), make(map[string]*worker, len(specs))
	changed := len(old) != len(specs) || len(f.stops) != len(specs) // heirs are not watched yet
	for id, s := range specs {
		w := old[id]
		if w != nil {
			if stays, differs := w.moveTo(s); stays {
				next[id], changed = w, changed || differs
				continue
			}
		}
		next[id], changed = newWorker(s, w.nextLife()), true
	}
	if !changed {
		return
	}
	f.workers.Store(&next)
	for id, w := range old {
		if stop := f.stops[id]; stop != nil && next[id] != w {
			stop()
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
}

// changed asks for a new snapshot.
func (f *Fleet) changed() { wake(f.dirty) }

// renewal is the longest time between two snapshots: configured figures are
// as old as the snapshot that they are in.
const renewal = time.Hour

// publish makes snapshots until the fleet is closed.
func (f *Fleet) publish(log journal) {
	renew := time.NewTicker(renewal)
	defer renew.Stop()
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
