package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"gatewayd/pkg/router"
)

// Supervisor keeps one process running: it restarts it when it ends, with
// growing waits, and opens its instances again. One that ends again and again is
// quarantined. Its methods may be called concurrently.
type Supervisor struct {
	spec   Spec
	cancel context.CancelFunc
	done   chan struct{}

	mu        sync.Mutex
	process   *Process // nil while down
	state     State
	instances map[*Instance]bool
}

// Supervise starts the process and keeps it running until Close. The context
// bounds the first start only. If that fails, nothing is left running, unless
// Spec.KeepTrying is set: then the supervisor goes on, and State tells the error.
func Supervise(ctx context.Context, spec Spec) (*Supervisor, error) {
	spec, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	s := &Supervisor{spec: spec, cancel: cancel, done: make(chan struct{}), instances: map[*Instance]bool{}}
	first := make(chan error, 1)
	go s.run(ctx, life, func(err error) { first <- err })
	if err := <-first; err != nil && !spec.KeepTrying {
		s.Close()
		return nil, err
	}
	return s, nil
}

// run starts the process again and again. The first start has a context of its
// own, and its result is reported.
func (s *Supervisor) run(start, life context.Context, report func(error)) {
	defer close(s.done)
	waits := &backoff.ExponentialBackOff{
		InitialInterval: s.spec.Restart.First, MaxInterval: s.spec.Restart.Longest,
		Multiplier: 2, RandomizationFactor: 0.2,
	}
	crashes := crashes{Quarantine: s.spec.Quarantine}
	for restarts := 0; life.Err() == nil; {
		s.set(State{Phase: Starting, Restarts: restarts})
		p, err := launch(start, s.spec)
		if err != nil {
			report(err)
		} else {
			began := time.Now()
			s.up(life, p, restarts)
			report(nil)
			restarts++
			select {
			case <-p.Done():
				err = p.Err()
			case <-life.Done():
			}
			s.down()
			p.Close()
			if time.Since(began) > s.spec.Restart.Longest {
				waits.Reset()
			}
		}
		report, start = func(error) {}, life
		next := State{Phase: Down, Restarts: max(restarts-1, 0), Err: err, Wait: waits.NextBackOff()}
		if crashes.tooMany(time.Now()) {
			next.Phase, next.Wait = Quarantined, s.spec.Quarantine.For
			waits.Reset()
		}
		s.pause(life, next)
	}
	s.set(State{Phase: Stopped})
}

// crashes counts the ends of a process.
type crashes struct {
	Quarantine
	at []time.Time // those that count still
}

// tooMany counts one more end and reports whether the process is quarantined for
// it; then the count begins anew.
func (c *crashes) tooMany(now time.Time) bool {
	c.at = slices.DeleteFunc(c.at, func(t time.Time) bool { return now.Sub(t) > c.Within })
	if c.at = append(c.at, now); len(c.at) < c.Crashes {
		return false
	}
	c.at = nil
	return true
}

// pause waits between two starts.
func (s *Supervisor) pause(life context.Context, state State) {
	if life.Err() != nil {
		return
	}
	s.set(state)
	timer := time.NewTimer(state.Wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-life.Done():
	}
}

// up opens the instances in the new process and makes it the one at work.
func (s *Supervisor) up(life context.Context, p *Process, restarts int) {
	s.mu.Lock()
	instances := slices.Collect(maps.Keys(s.instances))
	s.mu.Unlock()
	var errs []error
	for _, i := range instances {
		r, err := p.open(life, i.opening)
		if err != nil {
			errs = append(errs, err)
		} else if !i.adopt(r) {
			errs = append(errs, r.close())
		}
	}
	s.mu.Lock()
	s.process = p
	s.mu.Unlock()
	s.set(State{Phase: Up, Pid: p.Pid(), Restarts: restarts, Err: errors.Join(errs...)})
}

// down takes the process out of work; calls fail with ErrDown.
func (s *Supervisor) down() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = nil
	for i := range s.instances {
		i.adopt(nil)
	}
}

func (s *Supervisor) set(state State) {
	state.Plugin = s.spec.Name
	s.mu.Lock()
	s.state = state
	s.mu.Unlock()
	s.spec.OnState(state)
}

// State returns what the process is doing.
func (s *Supervisor) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Describe returns what the process serves, or ErrDown.
func (s *Supervisor) Describe() (Description, error) {
	p, err := s.current()
	if err != nil {
		return Description{}, err
	}
	return p.Describe(), nil
}

// Open opens an instance of the spec's strategy for a pool. It lives on over
// restarts; while the process is down, Open and the instance's calls fail with
// ErrDown at once. What an instance has learnt is lost with its process.
func (s *Supervisor) Open(ctx context.Context, options router.Options, seed uint64, pool string) (*Instance, error) {
	p, err := s.current()
	if err != nil {
		return nil, err
	}
	strategy, err := p.strategy()
	if err != nil {
		return nil, err
	}
	o := opening{strategy, maps.Clone(options), seed, pool}
	r, err := p.open(ctx, o)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.process != p {
		s.mu.Unlock()
		_ = r.close()
		return nil, s.downError()
	}
	defer s.mu.Unlock()
	i := newInstance(o, r, s.forget)
	s.instances[i] = true
	return i, nil
}

func (s *Supervisor) forget(i *Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, i)
}

func (s *Supervisor) current() (*Process, error) {
	s.mu.Lock()
	p := s.process
	s.mu.Unlock()
	if p == nil {
		return nil, s.downError()
	}
	return p, nil
}

func (s *Supervisor) downError() error {
	state := s.State()
	if state.Err != nil {
		return tag(ErrDown, fmt.Errorf("plugin %s is %v: %w", s.spec.Name, state.Phase, state.Err))
	}
	return tag(ErrDown, fmt.Errorf("plugin %s is %v", s.spec.Name, state.Phase))
}

// Close ends the process and returns when it is gone. Instances stay down.
func (s *Supervisor) Close() {
	s.cancel()
	<-s.done
}
