package estimator

import (
	"math"
	"time"
)

// window is how many half-lives times may lie after the landmark. Weights then
// stay far inside the range of a float32.
const window = 60

// clock turns times into weights that need no decay: what happens at time t
// weighs 2^((t - landmark) / half-life), so the weights of everything recorded
// keep their ratios for ever, and a count at a time is a sum of weights over the
// weight of that time. Now and then the landmark moves, and all weights with it.
type clock struct {
	halfLife int64   // ns, > 0
	landmark int64   // ns
	latest   int64   // ns, the newest time seen
	weight   float64 // of latest
	base     int64   // ns, a time whose weight is known, shortly before latest
	based    float64 // its weight
	started  bool
}

func newClock(halfLife time.Duration) clock {
	return clock{halfLife: int64(halfLife), weight: 1, based: 1}
}

// advance moves the clock to now, if it is later than all before, and returns
// how many half-lives the landmark has to move; the caller scales its weights by
// 2^-shift.
func (c *clock) advance(now int64) (shift int) {
	if !c.started {
		c.started, c.landmark, c.base, c.latest = true, now, now, now
		return 0
	}
	if now <= c.latest {
		return 0
	}
	c.latest = now
	if d := now - c.base; d >= 0 && d < c.halfLife/(1/near) {
		c.weight = c.based * exp2(float64(d)/float64(c.halfLife))
		return 0
	}
	past := c.past(now)
	for ; past > window; past = c.past(now) {
		shift += int(past)
		c.landmark += int64(past) * c.halfLife
	}
	c.weight = math.Exp2(past)
	c.base, c.based = now, c.weight
	return shift
}

// past is how many half-lives a time lies after the landmark.
func (c *clock) past(now int64) float64 {
	d := now - c.landmark
	if d < 0 && now > c.landmark { // it does not fit
		d = math.MaxInt64
	}
	return float64(d) / float64(c.halfLife)
}

// over returns what turns a weight into a count at now.
func (c *clock) over(now int64) float64 {
	if now <= c.latest {
		return 1 / c.weight
	}
	return exp2(-c.past(now))
}

// perSecond returns what turns a count into events per second: a steady stream
// of r events per second has a count of r * half-life / ln 2.
func (c *clock) perSecond() float64 { return math.Ln2 / (float64(c.halfLife) / 1e9) }
