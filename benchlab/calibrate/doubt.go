package calibrate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"gatewayd/benchlab/engine"
)

// Estimate is one coefficient of a fit, and how sure it is.
type Estimate struct {
	Field     string        `json:"field"`                // as in a profile's JSON
	Unit      string        `json:"unit"`                 //
	Value     engine.Figure `json:"value"`                // unknown when the run does not determine it
	Used      float64       `json:"used"`                 // in the profile
	StdErrPct engine.Figure `json:"std_err_pct"`          // of Used; unknown when over 1000
	Floor     engine.Figure `json:"floor"`                // by physics
	TTFTPct   float64       `json:"ttft_mean_per_10_pct"` // change of the mean TTFT when the coefficient grows by 10 %
	E2EPct    float64       `json:"e2e_mean_per_10_pct"`  // same of the mean E2E
	Why       string        `json:"why,omitempty"`        // why Value is unknown
}

const (
	// determined is the largest relative standard error of a coefficient that a run
	// determines.
	determined = 0.25
	// noise is the least standard deviation of a residual: no clock and no scheduler
	// repeats itself better.
	noise = 0.005
	// neighbours is how many requests in a row count as one observation, for they
	// wait in the same queue.
	neighbours = 10
)

// doubt tells which coefficients the run determines.
func (s *search) doubt(x []float64) ([]Estimate, error) {
	p := s.slopeAt(x, doubtStride)
	errs := s.standardErrors(p)
	best := apply(s.list, s.base, x)
	ttft, e2e := s.mean(s.serve(best))
	var list []Estimate
	for j := range s.list {
		c := &s.list[j]
		used := c.at(&best)
		more := best
		c.set(&more, 1.1*used)
		moreTTFT, moreE2E := s.mean(s.serve(more))
		e := Estimate{
			Field: c.field, Unit: c.unit, Used: used,
			TTFTPct: 100 * (moreTTFT/ttft - 1), E2EPct: 100 * (moreE2E/e2e - 1),
		}
		if c.floor > 0 {
			e.Floor = engine.Known(c.floor)
		}
		relative := errs[j] * (used - c.floor) / used
		if relative <= 10 {
			e.StdErrPct = engine.Known(100 * relative)
		}
		if relative <= determined {
			e.Value = engine.Known(used)
		} else {
			e.Why = fmt.Sprintf("its standard error is more than %.0f %%; other values do about as well as the one used", 100*determined)
		}
		list = append(list, e)
	}
	return list, s.err
}

// standardErrors are those of the point x itself, logarithms of excesses: the
// sandwich of clusters of neighbours, plus what noise alone would cause.
func (s *search) standardErrors(p *slope) []float64 {
	rows, k := p.jacobian.Dims()
	bread := mat.NewSymDense(k, nil)
	bread.SymOuterK(1, p.jacobian.T())
	trace := mat.Trace(bread)
	for j := range k {
		bread.SetSym(j, j, bread.At(j, j)+1e-9*trace+math.SmallestNonzeroFloat64)
	}
	meat := mat.NewSymDense(k, nil)
	for from := 0; from < rows; from += neighbours * perRequest {
		to := min(rows, from+neighbours*perRequest)
		var g mat.VecDense
		g.MulVec(p.jacobian.Slice(from, to, 0, k).T(), mat.NewVecDense(to-from, p.rest[from:to]))
		meat.SymRankOne(meat, 1, &g)
	}
	out := make([]float64, k)
	var factor mat.Cholesky
	if !factor.Factorize(bread) {
		for j := range out {
			out[j] = math.Inf(1)
		}
		return out
	}
	var inverse mat.SymDense
	var half, sandwich mat.Dense
	if err := factor.InverseTo(&inverse); err != nil {
		for j := range out {
			out[j] = math.Inf(1)
		}
		return out
	}
	half.Mul(&inverse, meat)
	sandwich.Mul(&half, &inverse)
	for j := range out {
		out[j] = math.Sqrt(max(0, sandwich.At(j, j)) + noise*noise*inverse.At(j, j))
	}
	return out
}
