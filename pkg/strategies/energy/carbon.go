package energy

import (
	"fmt"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
)

const (
	// worldAverage stands for the average intensity of unknown electricity, gCO2e/kWh.
	worldAverage = 481
	// defaultPUE stands for an unknown PUE: the industry's survey mean.
	defaultPUE = 1.58
	// joulesPerKWh converts J to kWh.
	joulesPerKWh = 3.6e6
)

// gramsPerJoule returns, per worker, the gCO2e of a joule of computing: PUE
// times intensity. Only readings of one kind, average or marginal, are used.
func (c config) gramsPerJoule(in router.PlanInput) ([]float64, string) {
	workers := in.Fleet.Workers
	marginal := c.marginal(in)
	sum, fresh := 0.0, 0
	for _, w := range workers {
		if c.usable(w.Carbon, in.Now) && w.Carbon.Marginal == marginal {
			sum, fresh = sum+w.Carbon.GramsPerKWh.Value, fresh+1
		}
	}
	otherwise, called := float64(worldAverage), fmt.Sprintf("the world average of %d g/kWh", worldAverage)
	if marginal && fresh > 0 { // an average figure must not stand among marginal ones
		otherwise, called = sum/float64(fresh), "the mean of the marginal readings"
	}
	grams := make([]float64, len(workers))
	for i, w := range workers {
		g := otherwise
		if c.usable(w.Carbon, in.Now) && w.Carbon.Marginal == marginal {
			g = w.Carbon.GramsPerKWh.Value
		}
		pue := defaultPUE
		if w.Energy.PUE > 0 {
			pue = max(1, w.Energy.PUE)
		}
		grams[i] = pue * g / joulesPerKWh
	}
	if fresh == len(workers) {
		return grams, ""
	}
	return grams, fmt.Sprintf("%d of %d workers without a fresh %s carbon reading: taken as %s",
		len(workers)-fresh, len(workers), kind(marginal), called)
}

// marginal chooses the kind of reading for all workers of a plan.
func (c config) marginal(in router.PlanInput) bool {
	if c.intensity != "auto" {
		return c.intensity == "marginal"
	}
	average, marginal := false, false
	for _, w := range in.Fleet.Workers {
		if c.usable(w.Carbon, in.Now) {
			average = average || !w.Carbon.Marginal
			marginal = marginal || w.Carbon.Marginal
		}
	}
	return marginal && !average
}

// usable reports whether there is a reading that is not stale.
func (c config) usable(r router.Carbon, now router.Time) bool {
	_, ok := planner.Observed(r.GramsPerKWh)
	return ok && r.GramsPerKWh.Age(now) < c.stale
}

func kind(marginal bool) string {
	if marginal {
		return "marginal"
	}
	return "average"
}

// alike reports whether all values are equal.
func alike(values []float64) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}
