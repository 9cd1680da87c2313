package fleet

import (
	"time"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

// phase is what a breaker lets through.
type phase uint8

const (
	closed phase = iota // everything
	open                // nothing
	trial               // as many requests as Breaker.Probes
)

var phases = [...]string{"closed", "open", "trial"}

// breaker takes a worker out of rotation whose requests fail although its
// health checks pass. The zero breaker is closed.
type breaker struct {
	phase    phase
	failures int           // in a row, while closed
	served   int           // on trial
	openings uint64        // since the worker is known
	cooldown time.Duration // of the last opening; 0 if it never opened
	since    router.Time   // when the phase began, unless it is the first
}

// fail takes a failed request in. While open, failures are those of requests
// sent before, and do not count again.
func (b *breaker) fail(now router.Time, c config.Breaker) {
	b.failures++
	switch {
	case b.phase == open, b.phase == closed && b.failures < c.Failures:
		return
	case b.cooldown == 0, b.phase == closed && now.Sub(b.since) > calm*b.cooldown:
		b.cooldown = c.Cooldown
	default: // it failed its trial, or again soon after one
		b.cooldown = min(2*b.cooldown, c.MaxCooldown)
	}
	b.openings++
	b.enter(open, now)
}

// calm is how many cool-downs a worker must serve well for its next opening to
// begin with a short one: a flapping worker is left alone ever longer.
const calm = 10

// succeed takes a served request in; one that was sent before the breaker
// opened does not close it.
func (b *breaker) succeed(now router.Time, c config.Breaker) {
	b.failures = 0
	if b.phase != trial {
		return
	}
	if b.served++; b.served >= c.Probes {
		b.enter(closed, now)
	}
}

// admits is how many requests the breaker lets through besides those that were
// served on trial; 0: it does not limit them.
func (b *breaker) admits(c config.Breaker) int {
	if b.phase == trial {
		return c.Probes - b.served
	}
	return 0
}

// tick begins the trial when the cool-down is over.
func (b *breaker) tick(now router.Time) {
	if b.phase == open && now.Sub(b.since) >= b.cooldown {
		b.enter(trial, now)
	}
}

// delay returns how long to wait with the next tick, and false if none is needed.
func (b *breaker) delay(now router.Time) (time.Duration, bool) {
	return max(b.cooldown-now.Sub(b.since), 0), b.phase == open
}

func (b *breaker) enter(p phase, now router.Time) {
	b.phase, b.since, b.failures, b.served = p, now, 0, 0
}
