package fleet

import (
	"time"

	"gatewayd/pkg/router"
)

// ramp gives a worker that has come up its requests little by little: all
// strategies see an idle worker, and its cache is cold. The zero ramp is over.
type ramp struct {
	step  int // from 1 on while it lasts
	since router.Time
	each  time.Duration // of a step
}

const (
	rampSteps = 5
	rampFirst = 4 // requests in flight in the first step; each further one doubles them
)

// begin begins a ramp that lasts so long in all; none if that is 0.
func (r *ramp) begin(now router.Time, lasts time.Duration) {
	if *r = (ramp{}); lasts > 0 {
		*r = ramp{1, now, lasts / rampSteps}
	}
}

// tick lets time pass.
func (r *ramp) tick(now router.Time) {
	for r.step > 0 && now.Sub(r.since) >= r.each {
		if r.step, r.since = r.step+1, r.since.Add(r.each); r.step > rampSteps {
			*r = ramp{}
		}
	}
}

// admits is the most requests in flight now; 0: no limit.
func (r *ramp) admits() int {
	if r.step == 0 {
		return 0
	}
	return rampFirst << (r.step - 1)
}

// delay returns how long to wait with the next tick, and false if none is needed.
func (r *ramp) delay(now router.Time) (time.Duration, bool) {
	return max(r.each-now.Sub(r.since), 0), r.step > 0
}
