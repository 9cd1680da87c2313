package sim

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Resolve returns the faults of a config with everything drawn that they leave
// open, in the order of the config. Targets are drawn evenly among the workers, or
// gateways, and times evenly over the trace's span. What is drawn depends on the
// seed, the fault's place and the numbers of workers and gateways, and on nothing
// else, so that every chain meets the same faults.
func Resolve(c Config) []Fault {
	faults := make([]Fault, len(c.Options.Faults))
	span := time.Duration(0)
	if c.Trace != nil && len(c.Trace.Requests) > 0 {
		span = c.Trace.Requests[len(c.Trace.Requests)-1].At
	}
	for i, f := range c.Options.Faults {
		rng := rand.New(rand.NewPCG(stream(c.Seed, "faults"), uint64(i)))
		targets := len(c.Workers)
		if f.Kind.ofGateway() {
			targets = max(c.Options.Gateways, 1)
		}
		who, at := rng.IntN(max(targets, 1)), time.Duration(rng.Int64N(int64(span)+1))
		if f.Target == Any {
			f.Target = who
		}
		if f.At == Any {
			f.At = at
		}
		faults[i] = f
	}
	return faults
}

// check reports a fault that cannot happen to this fleet.
func (f Fault) check(workers, gateways int) error {
	n, letter := workers, "w"
	if f.Kind.ofGateway() {
		n, letter = gateways, "g"
	}
	bad := f.Kind < Crash || int(f.Kind) >= len(faultNames) ||
		f.Target < Any || f.Target >= n ||
		f.At < 0 && f.At != Any || f.At > maxSpan || f.For < 0 || f.For > maxSpan || f.For > 0 && !f.Kind.lasts()
	if f.Kind == Slow {
		bad = bad || !(f.Factor >= minFactor && f.Factor <= maxFactor)
	}
	if bad {
		there := fmt.Sprintf("there are %s0 to %s%d", letter, letter, n-1)
		if n == 1 {
			there = fmt.Sprintf("there is only %s0", letter)
		}
		return fmt.Errorf("simulation: fault %v cannot happen; %s", f, there)
	}
	return nil
}
