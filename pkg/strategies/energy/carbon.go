package energy

import (
	"fmt"
	"slices"
	"strings"

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
	stands := c.standIns(in, marginal)
	grams := make([]float64, len(workers))
	missing := 0
	var said []string
	for i, w := range workers {
		g := w.Carbon.GramsPerKWh.Value
		if !c.counts(w, in.Now, marginal) {
			var called string
			g, called = stands.of(w.Zone)
			if missing++; !slices.Contains(said, called) {
				said = append(said, called)
			}
		}
		pue := defaultPUE
		if w.Energy.PUE > 0 {
			pue = max(1, w.Energy.PUE)
		}
		grams[i] = pue * g / joulesPerKWh
	}
	if missing == 0 {
		return grams, ""
	}
	return grams, fmt.Sprintf("%d of %d workers without a fresh %s carbon reading: taken as %s",
		missing, len(workers), kind(marginal), strings.Join(said, " and "))
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

// counts reports whether a worker has a usable reading of the kind.
func (c config) counts(w router.Worker, now router.Time, marginal bool) bool {
	return c.usable(w.Carbon, now) && w.Carbon.Marginal == marginal
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
