package sim

import (
	"fmt"

	"gatewayd/benchlab/engine"
	"gatewayd/pkg/router"
)

// PUE is facility power over IT power in Fleet: the mean of the Uptime
// Institute's survey of 2023.
const PUE = 1.58

// Zone is an electricity grid zone with the mean carbon intensity of a year.
type Zone struct {
	Name        string
	GramsPerKWh float64 // gCO2e/kWh
	Source      string
}

// Zones are the two zones that Fleet's workers lie in, in turn.
func Zones() [2]Zone {
	const source = "Our World in Data / Ember, national mean of 2023"
	return [2]Zone{{"FR", 56, source}, {"DE", 381, source}}
}

// Fleet returns n equal workers, the first in the first of Zones, the second in
// the second, and so on. Their energy is unknown unless it was measured for the
// profile.
func Fleet(n int, p engine.Profile) []Worker {
	block := p.BlockTokens
	if block == 0 {
		block = engine.DefaultBlockTokens
	}
	width := len(fmt.Sprint(n - 1))
	workers := make([]Worker, n)
	for i := range workers {
		zone := Zones()[i%2]
		workers[i] = Worker{Profile: p, Worker: router.Worker{
			ID: fmt.Sprintf("worker-%0*d", width, i), Incarnation: 1,
			Zone:     zone.Name,
			KVTokens: p.KVBlocks * block,
			Energy:   energy(p.Name),
			Carbon:   router.Carbon{GramsPerKWh: router.Gauge{Value: zone.GramsPerKWh}, Source: zone.Source},
		}}
	}
	return workers
}

// energy is what measurements say of a profile's electricity, for strategies to
// decide by; what the simulation reports comes from the engine. Decode and
// shared energy are fits of e(B) = a/B + c to ML.ENERGY leaderboard
// points; prefill energy is that of the model's FLOPs at 400 TFLOP/s and full
// power. The power step from idle to active is unknown.
func energy(profile string) router.Energy {
	e := router.Energy{PUE: PUE}
	switch profile {
	case "llama-3.1-8b-h100":
		e.SharedJoules, e.DecodeJoules, e.PrefillJoules = 3.11, 0.068, 0.028
	case "llama-3.1-70b-h100x4":
		e.SharedJoules, e.DecodeJoules, e.PrefillJoules = 27.7, 0.382, 0.245
	case "qwen3-32b-h100x2":
		e.SharedJoules, e.DecodeJoules = 11.5, 0.189
	}
	return e
}
