package calibrate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"gatewayd/benchlab/engine"
)

// Options of a fit.
type Options struct {
	First int // only the first so many requests by arrival enter the loss; 0 is all
}

// Bounds of the search: steps of Newton's method, each about a dozen replays, and
// replays of the simplex that follows.
const (
	newtonSteps    = 10
	simplexReplays = 80
)

// ridge is what the loss grows by when a coefficient's excess over its floor is
// e times the typical one. It decides only where the run does not.
const ridge = 1e-5

// Fitted is the result of a fit.
type Fitted struct {
	Profile   engine.Profile
	Estimates []Estimate // one for each coefficient that was searched
	Requests  int        // in the loss
	Loss      float64
	Replays   int // it took
}

// Fit searches the coefficients of the step time with which a replay comes nearest
// to the recording. The profile says what is known besides: name, model, GPU,
// limits and power; its coefficients are replaced. The loss is the mean over
// requests of three squared relative errors: of TTFT over the recorded E2E, of
// TPOT and of E2E.
//
// All requests are replayed, whichever enter the loss. The end of the context ends
// the fit with its error. Equal input gives an equal
// result. The search is Newton's method with a Gauss-Newton second derivative,
// then Nelder and Mead's simplex, because the loss has the scheduler's jumps.
func Fit(ctx context.Context, run *Run, base engine.Profile, o Options) (*Fitted, error) {
	n := len(run.Requests)
	if o.First < 0 || o.First > n {
		return nil, fmt.Errorf("run %s has %d requests: the first %d cannot be fitted", run.Name, n, o.First)
	}
	if o.First > 0 {
		n = o.First
	}
	base.DecodeMS, base.DecodeSeqMS = 0, 0
	s := &search{ctx: ctx, run: lean(run, base), base: base, list: space(run, base), n: n}
	x := make([]float64, len(s.list))
	for i := range x {
		x[i] = s.list[i].point(s.list[i].typical)
	}
	for _, m := range []struct {
		method   optimize.Method
		settings optimize.Settings
	}{
		{&optimize.Newton{Linesearcher: &optimize.Backtracking{}},
			optimize.Settings{MajorIterations: newtonSteps, FuncEvaluations: 10 * newtonSteps}},
		{&optimize.NelderMead{SimplexSize: 0.05}, optimize.Settings{FuncEvaluations: simplexReplays}},
	} {
		m.settings.Converger = &optimize.FunctionConverge{Absolute: 1e-8, Iterations: 40}
		result, err := optimize.Minimize(s.problem(), x, &m.settings, m.method)
		if s.err != nil {
			return nil, s.err
		}
		// A line search that finds nothing better has ended the descent, not the fit.
		if result == nil {
			return nil, fmt.Errorf("fitting run %s: %w", run.Name, err)
		}
		x = result.X
	}
	return s.fitted(x)
}

func (s *search) problem() optimize.Problem {
	return optimize.Problem{
		Func: s.loss,
		Grad: func(gradient, x []float64) { copy(gradient, s.descent(x).gradient) },
		Hess: func(hessian *mat.SymDense, x []float64) { hessian.CopySym(s.descent(x).hessian) },
	}
}

func (s *search) fitted(x []float64) (*Fitted, error) {
	f := &Fitted{Profile: apply(s.list, s.base, x), Requests: s.n}
	var err error
	if f.Estimates, err = s.doubt(x); err != nil {
		return nil, err
	}
	f.Loss, f.Replays = s.loss(x), s.replays
	if s.err == nil && math.IsInf(f.Loss, 0) {
		s.err = fmt.Errorf("fitting run %s: the loss is infinite", s.run.Name)
	}
	return f, s.err
}
