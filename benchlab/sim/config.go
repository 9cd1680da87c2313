package sim

import (
	"errors"
	"fmt"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/router"
)

// Config says what to simulate. Trace and Workers are required.
type Config struct {
	// Trace is the traffic. Requests without a session have no affinity key.
	Trace   *trace.Trace
	Workers []Worker // in order of their IDs
	Chain   []Link   // strategies in order; the core's built-in one follows
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
	// PlanDelay is the virtual time from the moment that a plan's input is taken
	// until the plan is in force.
	PlanDelay time.Duration
	// DecisionDelay is the virtual time of each Route call. From the core's
	// deadline (25 ms) on the answer comes too late.
	DecisionDelay time.Duration
	// Progress, if set, is told now and then how many requests have ended.
	Progress func(ended int)
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
	case c.Options.PlanDelay < 0 || c.Options.DecisionDelay < 0:
		return errors.New("simulation: a delay is negative")
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

const (
	maxRows    = 1<<31 - 1
	maxWorkers = router.MaxPlanWorkers
	maxSpan    = 31 * 24 * time.Hour // each virtual second costs a tick
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
