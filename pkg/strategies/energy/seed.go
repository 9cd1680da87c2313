package energy

import (
	"math"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/planner"
	"gatewayd/pkg/strategies/internal/row"
)

const (
	microjoules = 1e6 // per J
	// tieBreak is the weight of busyness in the joule score of eoc-distributed.
	tieBreak = 1e-6
)

// seed ranks as eoc-distributed does: by reported energy or carbon per token
// times the expected tokens, without regard to load. What is unknown counts as
// 0, and the first of equal workers wins.
func (c config) seed(in router.PlanInput) (router.Plan, error) {
	rest := router.Rest{Order: router.ByCost, FirstTie: true}
	switch c.mode {
	case "least-busy":
		rest.Cost = row.Busyness(1)
	case "carbon":
		rest.Cost = router.Row{row.Each(router.OutputTokens, seedGrams(in.Fleet.Workers))}
	default:
		rest.Cost = append(router.Row{row.Each(router.OutputTokens, seedMicrojoules(in.Fleet.Workers))}, row.Busyness(tieBreak)...)
	}
	return router.Plan{Rest: rest}, nil
}

func seedMicrojoules(workers []router.Worker) []float64 {
	perToken := make([]float64, len(workers))
	for i, w := range workers {
		perToken[i] = wholeMicrojoules(w)
	}
	return perToken
}

// wholeMicrojoules is a worker's energy per token in the seed's unit, an unsigned
// 32-bit number of microjoules.
func wholeMicrojoules(w router.Worker) float64 {
	return min(math.Round(w.Energy.DecodeJoules*microjoules), math.MaxUint32)
}

func seedGrams(workers []router.Worker) []float64 {
	perToken := make([]float64, len(workers))
	for i, w := range workers {
		grams, _ := planner.Observed(w.Carbon.GramsPerKWh)
		perToken[i] = wholeMicrojoules(w) / microjoules / joulesPerKWh * grams
	}
	return perToken
}
