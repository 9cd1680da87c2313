// Package signal says by what signal the gateways of a lab learn which share of
// prompts came from prefix caches, so that a lab can tell what each is worth.
package signal

import (
	"fmt"
	"slices"
	"strings"

	"gatewayd/pkg/router"
)

// Signal is the best signal of reuse that gateways have: better ones are withheld
// from them, others are not.
type Signal uint8

const (
	Usage    Signal = iota // cached tokens in the usage of finished requests
	Counters               // prefix cache counters of the workers' own metrics
	TTFT                   // times to first token
	None                   // planners do not learn what is reused
)

var names = [...]string{"usage", "counters", "ttft", "none"}

// All lists the signals, the best one first.
func All() []Signal { return []Signal{Usage, Counters, TTFT, None} }

// Names lists their names in the same order.
func Names() string { return strings.Join(names[:], ", ") }

// String returns the signal's name.
func (s Signal) String() string {
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Parse reads a signal's name.
func Parse(name string) (Signal, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Signal(i), nil
	}
	return 0, fmt.Errorf("no signal of reuse %q; there are %s", name, Names())
}

// Usage is a request's usage as gateways learn it.
func (s Signal) Usage(u router.Usage) router.Usage {
	if s > Usage {
		u.CachedTokens = -1
	}
	return u
}

// Counted reports whether gateways read the workers' counters of cache use.
func (s Signal) Counted() bool { return s <= Counters }

// Told is a planner's input as it gets it.
func (s Signal) Told(in router.PlanInput) router.PlanInput {
	if s == None {
		in.Reuse = router.Reuse{}
	}
	return in
}
