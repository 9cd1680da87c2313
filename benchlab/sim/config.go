package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/sim/signal"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// Config says what to simulate. Trace and Workers are required.
type Config struct {
	// Trace is the traffic. Requests without a session have no affinity key.
	Trace *trace.Trace
	// Outline is what prompts of Trace share; nil: Run makes it. Runs of one trace
	// may share one, which saves making it again.
	Outline *Outline
	Workers []Worker // in order of their IDs
	Chain   []Link   // strategies in order; the core's built-in one follows
	// Open makes the chain of a gateway that starts while Chain is in use: of every
	// gateway after the first (they are numbered from 0), and of each one that
	// comes back after a crash. It returns instances of the same strategies in the
	// same order. It is needed only for these, and not with an empty Chain.
	Open    func(gateway int) ([]Link, error)
	Seed    uint64
	Options Options
}

// Worker is a worker of the fleet and the engine that it runs.
type Worker struct {
	router.Worker
	Profile engine.Profile
}

// Link is one strategy of the chain. The instance is used by this run only.
type Link struct {
	Name     string // unique in the chain
	Instance router.Instance
}

// Options change what is usually left alone; the zero value is a good start.
type Options struct {
	// Timing says when requests are sent.
	Timing Timing
	// Faults happen on a schedule; those that leave something open are drawn from
	// the seed, alike for every chain. Resolve tells how.
	Faults []Fault
	// DetectDelay is the time until gateways know that a worker has crashed, came
	// back or joined; 0: 300 ms, three checks of a gateway that saw a connection
	// refused. A drain is known at once.
	DetectDelay time.Duration

	// Gateways is the number of gateways, 1 to 64; 0: 1. Requests are spread over
	// them by the seed. Each has its own view of the fleet and learns from the
	// others as live ones do through the shared store.
	Gateways int
	// SyncInterval is the time between two exchanges of a gateway with the shared
	// store; 0: 1 s. It matters only with several gateways.
	SyncInterval time.Duration
	// StoreDelay is the virtual time of one read from the shared store on a
	// request's way. From the budget of 2 ms on the answer comes too late. A gateway
	// alone keeps facts in its own memory, which takes no time.
	StoreDelay time.Duration
	// ScrapeInterval is the time between two readings of the workers' own figures;
	// 0: 1 s. What strategies see of them is that old at most.
	ScrapeInterval time.Duration
	// Signal is the best one of reuse that gateways have.
	Signal signal.Signal

	// PlanDelay is the virtual time from the moment that a plan's input is taken
	// until the plan is in force.
	PlanDelay time.Duration
	// DecisionDelay is the virtual time of each Route call. From the core's
	// deadline (25 ms) on the answer comes too late.
	DecisionDelay time.Duration

	// Protect has workers evict those blocks last whose key has a place with them
	// in the table of a plan in force.
	Protect bool

	// Progress, if set, is told now and then how many requests have ended.
	Progress func(ended int)
}

// Timing says when requests are sent.
type Timing uint8

const (
	// Recorded sends every request at its recorded time, whatever became of
	// earlier ones (open loop).
	Recorded Timing = iota
	// Sessions sends a request its think time after the last of the answers that
	// it follows; one that follows none is sent at its recorded time. A failure
	// counts as an answer: the client goes on, so that every row is sent under
	// every strategy and rows compare one by one.
	Sessions
)

var timings = [...]string{"recorded", "sessions"}

// String returns the timing's name, "recorded" or "sessions".
func (t Timing) String() string {
	if int(t) < len(timings) {
		return timings[t]
	}
	return "unknown"
}

// ParseTiming reads a timing's name.
func ParseTiming(name string) (Timing, error) {
	if i := slices.Index(timings[:], name); i >= 0 {
		return Timing(i), nil
	}
	return 0, fmt.Errorf("no timing %q; there are %s", name, strings.Join(timings[:], ", "))
}

func (c *Config) check() error {
	switch {
	case c.Trace == nil || len(c.Trace.Requests) == 0:
		return errors.New("simulation: the trace has no requests")
	case len(c.Trace.Requests) > maxRows:
		return fmt.Errorf("simulation: %d requests, at most %d are allowed", len(c.Trace.Requests), maxRows)
	case c.Trace.Requests[len(c.Trace.Requests)-1].At > maxSpan:
		return fmt.Errorf("simulation: the trace spans %v, at most %v are allowed; cut it, or raise the rate scale", c.Trace.Requests[len(c.Trace.Requests)-1].At, maxSpan)
	case len(c.Workers) == 0 || len(c.Workers) > maxWorkers:
		return fmt.Errorf("simulation: %d workers, want 1 to %d", len(c.Workers), maxWorkers)
	}
	for row := range c.Trace.Requests {
		if r := &c.Trace.Requests[row]; r.Input < 1 || r.Output < 0 {
			return fmt.Errorf("simulation: row %d of trace %s has %d prompt and %d answer tokens, want at least 1 and 0", row, c.Trace.Name, r.Input, r.Output)
		}
	}
	if err := c.Options.check(c); err != nil {
		return err
	}
	for i := range c.Workers {
		if i > 0 && c.Workers[i].ID <= c.Workers[i-1].ID {
			return fmt.Errorf("simulation: worker %q comes after %q; order workers by ID, each once", c.Workers[i].ID, c.Workers[i-1].ID)
		}
	}
	for _, k := range c.Chain {
		if err := Check(k.Name, k.Instance); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) check(c *Config) error {
	gateways := max(o.Gateways, 1)
	switch {
	case min(o.PlanDelay, o.DecisionDelay, o.StoreDelay, o.DetectDelay) < 0:
		return errors.New("simulation: a delay is negative")
	case o.Gateways < 0 || o.Gateways > maxGateways:
		return fmt.Errorf("simulation: %d gateways, want 1 to %d", o.Gateways, maxGateways)
	case min(o.SyncInterval, o.ScrapeInterval) < 0 || o.SyncInterval > 0 && o.SyncInterval < minInterval || o.ScrapeInterval > 0 && o.ScrapeInterval < minInterval:
		return fmt.Errorf("simulation: an interval is shorter than %v", minInterval)
	case max(o.PlanDelay, o.DecisionDelay, o.StoreDelay, o.DetectDelay, o.SyncInterval, o.ScrapeInterval) > maxSpan:
		return fmt.Errorf("simulation: a delay or interval is longer than %v", maxSpan)
	case int(o.Timing) >= len(timings):
		return errors.New("simulation: there is no such timing")
	case o.Signal > signal.None:
		return errors.New("simulation: there is no such signal of reuse")
	}
	restarts := false
	for _, f := range o.Faults {
		if err := f.check(len(c.Workers), gateways); err != nil {
			return err
		}
		restarts = restarts || f.Kind == GatewayCrash && f.For > 0
	}
	if (gateways > 1 || restarts) && len(c.Chain) > 0 && c.Open == nil {
		return errors.New("simulation: several gateways, or one that comes back, need Open to make their chains")
	}
	switch {
	case c.Outline == nil:
		return nil
	case c.Outline.trace != c.Trace:
		return errors.New("simulation: the outline is of another trace")
	case o.Timing == Sessions:
		return c.Outline.checkTurns()
	}
	return nil
}

// checkTurns reports a trace that cannot be sent turn by turn.
func (o *Outline) checkTurns() error {
	if o.invalid >= 0 {
		return fmt.Errorf("simulation: row %d of trace %s follows a row that is not before it", o.invalid, o.trace.Name)
	}
	if o.heads == nil {
		return fmt.Errorf("simulation: no row of trace %s says which one it follows; use timing %v", o.trace.Name, Recorded)
	}
	return nil
}

func (o Options) withDefaults() Options {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&o.DetectDelay, 300*time.Millisecond)
	def(&o.SyncInterval, time.Second)
	def(&o.ScrapeInterval, time.Second)
	o.Gateways = max(o.Gateways, 1)
	return o
}

const (
	maxRows     = 1<<31 - 1
	maxWorkers  = router.MaxPlanWorkers
	maxSpan     = 31 * 24 * time.Hour // each virtual second costs a tick
	maxGateways = 64
	minInterval = time.Millisecond

	defaultPlanInterval = 10 * time.Second      // the core's
	defaultWait         = 50 * time.Millisecond // the core's, of a request that a strategy made wait for an unknown time
)

// Check reports an instance that does not do what its Info says.
func Check(name string, instance router.Instance) error {
	info := instance.Info()
	_, routes := instance.(router.Strategy)
	_, plans := instance.(router.Planner)
	_, observes := instance.(router.Observer)
	for _, x := range []struct {
		says, has bool
		method    string
	}{{info.Routes, routes, "Route"}, {info.Plans, plans, "Plan"}, {len(info.Observes) > 0, observes, "Observe"}} {
		if x.says && !x.has {
			return fmt.Errorf("strategy %s wants %s to be called, but has no such method", name, x.method)
		}
	}
	return nil
}

// stream derives the seed of one purpose.
func stream(seed uint64, purpose string) uint64 {
	return router.Mix(seed ^ router.HashID(purpose))
}

// StrategySeed is the seed that the instance of chain link i is to be made with.
func StrategySeed(seed uint64, i int) uint64 {
	return stream(seed, fmt.Sprintf("strategy %d", i))
}
