package paper

import (
	"context"
	"math"
	"time"

	"gatewayd/benchlab/sim/measure"
)

// mayFail is the share of the requests that may fail at a load that is borne.
const mayFail = 0.05

// patience is how many steps in a row may miss the slackest threshold before the
// climb ends: an accident at one step hides no capacity above it.
const patience = 2

// climb is what became of the steps of a ladder, up to where it ended.
type climb struct {
	ladder []float64
	runs   []measure.Figures
}

// climb runs a policy at the loads of the testbed's ladder, at least up to some
// load, until it bears no more.
func (s *scene) climb(ctx context.Context, p policy, least float64, slackest time.Duration) (climb, error) {
	c, missed := climb{ladder: s.testbed.ladder}, 0
	for _, rate := range c.ladder {
		if missed >= patience && rate > least {
			break
		}
		f, err := s.run(ctx, p, rate)
		if err != nil {
			return c, err
		}
		c.runs = append(c.runs, f)
		if missed++; bears(&f, slackest) {
			missed = 0
		}
	}
	s.skipped(len(c.ladder) - len(c.runs))
	return c, nil
}

func bears(f *measure.Figures, threshold time.Duration) bool {
	p99, known := f.TTFT.P99.Value()
	return known && p99 <= threshold.Seconds() && float64(f.Requests-f.Completed) <= mayFail*float64(f.Requests)
}

// capacity is the largest load of the ladder whose p99 of TTFT is within the
// threshold with at most 5 % failed, as published; 0 if there is none.
func (c climb) capacity(threshold time.Duration) float64 {
	for i := len(c.runs) - 1; i >= 0; i-- {
		if bears(&c.runs[i], threshold) {
			return c.ladder[i]
		}
	}
	return 0
}

// at is the run at a load of the ladder, nil if there was none.
func (c climb) at(rate float64) *measure.Figures {
	for i := range c.runs {
		if c.ladder[i] == rate {
			return &c.runs[i]
		}
	}
	return nil
}

// above is the first step of a ladder above a load, +Inf if there is none: a load
// that is borne at one step may be any up to there.
func above(ladder []float64, load float64) float64 {
	for _, step := range ladder {
		if step > load {
			return step
		}
	}
	return math.Inf(1)
}
