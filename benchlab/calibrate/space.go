package calibrate

import (
	"math"
	"time"

	"gatewayd/benchlab/engine"
)

// coefficient is one figure of the step time that a fit may move.
type coefficient struct {
	field string // as in a profile's JSON
	unit  string
	at    func(p *engine.Profile) float64
	set   func(p *engine.Profile, value float64)

	floor   float64 // by physics; 0 where it says nothing
	typical float64 // where the search begins, and ends if the run says nothing
}

// value turns a point of the search, any real number, into the coefficient: above
// its floor, and within a hundred times what is typical.
func (c *coefficient) value(x float64) float64 {
	return c.floor + min(math.Exp(x), 100*c.typical)
}

func (c *coefficient) point(value float64) float64 { return math.Log(value - c.floor) }

// space returns the coefficients in the order of Profile. Floors are those of the
// profile's GPUs and model if they are known. Typical efficiencies are those of
// measured vLLM kernels; without known peaks they come from the run's own fastest
// requests.
//
// DecodeMS and DecodeSeqMS are not among them: a run cannot tell them from the
// overheads.
func space(run *Run, p engine.Profile) []coefficient {
	floors := map[string]float64{}
	for _, l := range p.Limits() {
		floors[l.Field] = l.Bound.Or(0)
	}
	weights, token := fastest(run)
	context, quad := weights/120, token/20
	if floors["weights_ms"] > 0 {
		weights, token = floors["weights_ms"]/0.75, floors["token_us"]/0.65
		context, quad = floors["decode_kctx_ms"]/0.65, floors["prefill_quadratic_us"]/0.5
	}
	list := []coefficient{
		{
			field: "weights_ms", unit: "ms", typical: weights,
			at:  func(p *engine.Profile) float64 { return p.WeightsMS },
			set: func(p *engine.Profile, v float64) { p.WeightsMS = v },
		},
		{
			field: "token_us", unit: "us/token", typical: token,
			at:  func(p *engine.Profile) float64 { return p.TokenUS },
			set: func(p *engine.Profile, v float64) { p.TokenUS = v },
		},
		{
			field: "decode_kctx_ms", unit: "ms/kctx", typical: context,
			at:  func(p *engine.Profile) float64 { return p.DecodeKctxMS },
			set: func(p *engine.Profile, v float64) { p.DecodeKctxMS = v },
		},
		{
			field: "prefill_quadratic_us", unit: "us/token/kctx", typical: quad,
			at:  func(p *engine.Profile) float64 { return p.QuadUS },
			set: func(p *engine.Profile, v float64) { p.QuadUS = v },
		},
		{
			field: "overhead_ms", unit: "ms", typical: weights * 0.08,
			at:  func(p *engine.Profile) float64 { return p.OverheadMS.Or(0) },
			set: func(p *engine.Profile, v float64) { p.OverheadMS = engine.Known(v) },
		},
		{
			field: "overhead_seq_ms", unit: "ms/seq", typical: weights * 0.004,
			at:  func(p *engine.Profile) float64 { return p.OverheadSeqMS.Or(0) },
			set: func(p *engine.Profile, v float64) { p.OverheadSeqMS = engine.Known(v) },
		},
	}
	for i := range list {
		list[i].floor = floors[list[i].field]
	}
	return list
}

// fastest guesses the floor of a step in ms, from the shortest mean time between
// tokens, and the time of a prompt token in us, from the shortest prefill.
func fastest(run *Run) (weights, token float64) {
	weights, token = math.Inf(1), math.Inf(1)
	for _, r := range run.Requests {
		if t := r.TPOT(r.Output); t > 0 {
			weights = min(weights, 0.8*float64(t)/float64(time.Millisecond))
		}
		if t := r.TTFT(); t > 0 {
			token = min(token, float64(t)/float64(time.Microsecond)/float64(r.Prompt))
		}
	}
	return bounded(weights, 10), bounded(token, 50)
}

func bounded(x, otherwise float64) float64 {
	if math.IsInf(x, 0) {
		return otherwise
	}
	return min(max(x, 0.01), 1000)
}

// apply returns the profile with the coefficients at a point of the search.
func apply(list []coefficient, p engine.Profile, x []float64) engine.Profile {
	for i := range list {
		list[i].set(&p, list[i].value(x[i]))
	}
	return p
}
