package pool

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

const (
	// openTimeout bounds the making of a strategy's instance.
	openTimeout = 2 * time.Second
	// repairEvery is how often instances that could not be made are tried again.
	repairEvery = time.Second
)

// start starts a strategy's process and, if it comes up, tries its options. The
// error is of a strategy that cannot ever serve as it is configured.
func (s *Set) start(ctx context.Context, i int) (err error) {
	spec := s.cfg.Strategies[i].Process
	spec.KeepTrying = true
	spec.Logger = s.log
	spec.OnSpans = s.spans
	settled := make(chan plugin.State, 1) // gets how the first start went
	restarts := 0
	spec.OnState = func(st plugin.State) {
		if st.Phase != plugin.Starting {
			select {
			case settled <- st:
			default:
			}
		}
		s.changed(i, st, st.Restarts > restarts)
		restarts = st.Restarts
	}
	if s.processes[i], err = plugin.Supervise(ctx, spec); err != nil {
		return err
	}
	if st := <-settled; st.Phase != plugin.Up {
		if hopeless(st.Err) {
			return st.Err
		}
		return nil
	}
	return s.tryOptions(i)
}

// hopeless reports whether a start would fail the same way again and again.
func hopeless(err error) bool {
	for _, target := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOEXEC, plugin.ErrInvalid, plugin.ErrUnknownStrategy, plugin.ErrOption, plugin.ErrStrategy} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// tryOptions opens an instance once, so that wrong options are found at the
// start. A process that dies or hangs is no error here.
func (s *Set) tryOptions(i int) error {
	var r remote
	defer r.close()
	switch err := s.reach(&r, i, "check"); {
	case hopeless(err):
		return err
	case err != nil:
		s.log.Error("strategy is up but does not open", "strategy", s.cfg.Strategies[i].Name, "error", err)
	}
	return nil
}

// changed tells the metrics, the log and the pools what became of a process.
func (s *Set) changed(i int, st plugin.State, restarted bool) {
	m, name := s.telemetry.Load().Metrics, s.cfg.Strategies[i].Name
	m.SetPluginUp(name, st.Phase == plugin.Up)
	if restarted {
		m.PluginRestarted(name, "ended")
	}
	switch st.Phase {
	case plugin.Up:
		s.log.Info("strategy is up", "strategy", name, "pid", st.Pid, "restarts", st.Restarts)
	case plugin.Down, plugin.Quarantined:
		if errors.Is(st.Err, context.Canceled) {
			break // the gateway ends before it has begun
		}
		if s.onTrial() {
			s.log.Warn("strategy on trial is down", "strategy", name, "error", st.Err)
			break
		}
		s.log.Error("strategy is down; the rest of the chain decides", "strategy", name, "error", st.Err, "next_start_in", st.Wait)
	}
	var all sync.WaitGroup
	for pool, p := range s.pairs() {
		all.Go(func() {
			if st.Phase == plugin.Up && st.Err != nil {
				p.remotes[i].close() // not all could be opened again: make them anew
			}
			s.align(i, pool, p.Pool, p.remotes[i])
		})
	}
	all.Wait()
}

// isUp reports whether a strategy's process serves.
func (s *Set) isUp(i int) bool { return s.processes[i].State().Phase == plugin.Up }

// pair is a pool with its instances.
type pair struct {
	*Pool
	remotes []*remote
}

// pairs returns all pools. It waits for an update under way, so that no pool
// misses what the caller has to tell.
func (s *Set) pairs() map[string]pair {
	s.updating.Lock()
	defer s.updating.Unlock()
	out := map[string]pair{}
	for name, remotes := range s.opened {
		if p := (*s.pools.Load())[name]; p != nil {
			out[name] = pair{p, remotes}
		}
	}
	return out
}

// alignAll aligns all strategies of a pool, at the same time.
func (s *Set) alignAll(name string, p *Pool, remotes []*remote) {
	var all sync.WaitGroup
	for i, r := range remotes {
		all.Go(func() { s.align(i, name, p, r) })
	}
	all.Wait()
}

// align makes a pool's instance of strategy i if there is none and the process
// is up, and tells the pool how the strategy does.
func (s *Set) align(i int, name string, p *Pool, r *remote) {
	r.aligning.Lock()
	defer r.aligning.Unlock()
	up := s.isUp(i)
	if up {
		if err := s.reach(r, i, name); err != nil {
			up = false
			if said := err.Error(); said != r.trouble {
				r.trouble = said
				s.log.Error("strategy does not serve a model", "strategy", s.cfg.Strategies[i].Name, "model", name, "error", err)
			}
		} else {
			r.trouble = ""
		}
	}
	p.SetStrategy(i, r.info(), up)
}

// repair tries again to make instances that are missing.
func (s *Set) repair() {
	ticker := time.NewTicker(repairEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		for name, p := range s.pairs() {
			for i, r := range p.remotes {
				if r.instance.Load() == nil && s.isUp(i) {
					s.align(i, name, p.Pool, r)
				}
			}
		}
	}
}

// reach opens a pool's instance of strategy i unless it has one already.
func (s *Set) reach(r *remote, i int, pool string) error {
	if r.instance.Load() != nil {
		return nil
	}
	spec := s.cfg.Strategies[i]
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	instance, err := s.processes[i].Open(ctx, spec.Options, router.Mix(s.cfg.Core.Seed^router.HashID(pool)), pool)
	if err != nil {
		return err
	}
	r.instance.Store(instance)
	return nil
}

// spans hands a plugin's finished spans to the exporter.
func (s *Set) spans(name string, spans []plugin.Span) {
	out := make([]telemetry.PluginSpan, len(spans))
	for i, sp := range spans {
		out[i] = telemetry.PluginSpan{TraceID: sp.TraceID, SpanID: sp.SpanID, ParentID: sp.ParentID, Name: sp.Name, Start: sp.Start, End: sp.End, Error: sp.Error}
		for _, a := range sp.Attributes {
			attribute := telemetry.PluginAttribute{Key: a.Key, Text: a.Text}
			if a.Number != nil {
				attribute.Number = *a.Number
			}
			out[i].Attributes = append(out[i].Attributes, attribute)
		}
	}
	s.cfg.Telemetry.ExportPluginSpans(name, out)
}

// Strategies returns the chain's names in order, the built-in last.
func (s *Set) Strategies() []string {
	var names []string
	for _, spec := range s.cfg.Strategies {
		names = append(names, spec.Name)
	}
	return append(names, router.BuiltIn)
}

// ProcessState is what a strategy's process is doing.
type ProcessState struct {
	Name string
	plugin.State
}

// Processes returns the state of the strategies' processes, in the chain's order.
func (s *Set) Processes() []ProcessState {
	out := make([]ProcessState, len(s.processes))
	for i, p := range s.processes {
		out[i] = ProcessState{s.cfg.Strategies[i].Name, p.State()}
	}
	return out
}
