package dynamo

import (
	"math"
	"slices"

	"gatewayd/pkg/estimator"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/rank"
)

// softmax draws a worker with a chance in proportion to
// exp(-cost / ((max - min) * temperature)).
type softmax struct {
	info           router.Info
	config         config
	prompt, output estimator.Mean
}

func newSoftmax(info router.Info, c config) *softmax {
	info.Routes, info.Observes = true, []router.EventKind{router.Finished}
	return &softmax{info: info, config: c, prompt: estimator.Mean{HalfLife: 600e9}, output: estimator.Mean{HalfLife: 600e9}}
}

// Info says what the strategy does and needs.
func (s *softmax) Info() router.Info { return s.info }

// Observe learns the mean output.
func (s *softmax) Observe(events []router.Event) {
	for _, e := range events {
		if e.Kind == router.Finished && e.Usage.OutputTokens > 0 {
			s.output.Observe(int64(e.At), float64(e.Usage.OutputTokens))
		}
	}
}

// Route decides one request.
func (s *softmax) Route(in router.Input) router.Decision {
	s.prompt.Observe(int64(in.Now), float64(in.Request.PromptTokens))
	costs := s.costs(in)
	ranking := rank.Best(len(costs), func(a, b int) bool { return costs[a] < costs[b] })
	low, high := slices.Min(costs), slices.Max(costs)
	chances, total := make([]float64, len(costs)), 0.0
	for i, cost := range costs {
		chances[i] = 1
		if high > low {
			chances[i] = math.Exp((low - cost) / ((high - low) * s.config.temperature))
		}
		total += chances[i]
	}
	at := total * float64(router.Mix(in.Seed)>>11) / (1 << 53)
	drawn := 0
	for drawn < len(chances)-1 && at >= chances[drawn] {
		at -= chances[drawn]
		drawn++
	}
	return rank.Route("drawn", rank.First(drawn, ranking))
}

// costs are those of the plan's row.
func (s *softmax) costs(in router.Input) []float64 {
	c := s.config
	prompt, _ := s.prompt.Value()
	output, _ := s.output.Value()
	perRequest := c.perRequest(prompt, output)
	costs := make([]float64, len(in.Workers))
	for i := range in.Workers {
		l := &in.Workers[i].Load
		uncached := float64(max(1, in.Request.PromptTokens-in.Cached[i]))
		costs[i] = c.prefill*(c.overlap*uncached+float64(l.QueuedTokens))/c.block + perRequest*float64(l.InFlight)
	}
	return costs
}
