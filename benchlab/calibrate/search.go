package calibrate

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"gatewayd/benchlab/engine"
)

// search is a fit in progress.
type search struct {
	ctx     context.Context
	run     *Run
	base    engine.Profile
	list    []coefficient
	n       int // requests in the loss
	replays int
	last    *slope
	err     error // the first one of a replay
}

// loss is the mean of squares plus the ridge.
func (s *search) loss(x []float64) float64 {
	sum := 0.0
	for _, r := range s.residuals(x) {
		sum += r * r
	}
	sum /= float64(s.n)
	for i := range x {
		sum += ridge * s.away(x, i) * s.away(x, i)
	}
	return sum
}

func (s *search) away(x []float64, i int) float64 { return x[i] - s.list[i].point(s.list[i].typical) }

// perRequest is the number of residuals of a request.
const perRequest = 3

// residuals are the relative errors of the requests in the loss.
func (s *search) residuals(x []float64) []float64 {
	out := make([]float64, 0, perRequest*s.n)
	for i, v := range s.serve(apply(s.list, s.base, x))[:s.n] {
		r := &s.run.Requests[i]
		out = append(out,
			over(v.TTFT()-r.TTFT(), r.E2E()),
			over(v.TPOT(r.Output)-r.TPOT(r.Output), r.TPOT(r.Output)),
			over(v.E2E()-r.E2E(), r.E2E()))
	}
	return out
}

func over(off, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(off) / float64(whole)
}

// serve replays; after an error it gives zeros, and the fit ends with the error.
func (s *search) serve(p engine.Profile) []Served {
	s.replays++
	err := s.ctx.Err()
	var served []Served
	if err == nil {
		served, err = Replay(s.run, p)
	}
	if err != nil {
		if s.err == nil {
			s.err = err
		}
		return make([]Served, len(s.run.Requests))
	}
	return served
}

// slope is the loss around one point of the search, as a parabola.
type slope struct {
	at       []float64
	rest     []float64  // residuals
	jacobian *mat.Dense // their derivatives
	gradient []float64
	hessian  *mat.SymDense // without the second derivatives of the residuals
}

// How far the logarithm of an excess moves to measure a derivative: far enough that
// the scheduler's jumps average out. Doubt needs that more, descent less.
const (
	descentStride = 0.1
	doubtStride   = 0.3
)

// descent is the slope at x, which is asked for twice in a row.
func (s *search) descent(x []float64) *slope {
	if s.last == nil || !slices.Equal(s.last.at, x) {
		s.last = s.slopeAt(x, descentStride)
	}
	return s.last
}

// slopeAt measures the slope by two replays for each coefficient.
func (s *search) slopeAt(x []float64, stride float64) *slope {
	k := len(x)
	p := &slope{at: slices.Clone(x), rest: s.residuals(x), gradient: make([]float64, k), hessian: mat.NewSymDense(k, nil)}
	p.jacobian = mat.NewDense(len(p.rest), k, nil)
	for j := range k {
		y := slices.Clone(x)
		y[j] = x[j] + stride
		up := s.residuals(y)
		y[j] = x[j] - stride
		for i, down := range s.residuals(y) {
			p.jacobian.Set(i, j, (up[i]-down)/(2*stride))
		}
	}
	p.hessian.SymOuterK(2/float64(s.n), p.jacobian.T())
	for j := range k {
		g := mat.Dot(p.jacobian.ColView(j), mat.NewVecDense(len(p.rest), p.rest))
		p.gradient[j] = 2*g/float64(s.n) + 2*ridge*s.away(x, j)
		p.hessian.SetSym(j, j, p.hessian.At(j, j)+2*ridge)
	}
	return p
}

// mean is the mean TTFT and E2E of the requests in the loss.
func (s *search) mean(served []Served) (ttft, e2e float64) {
	for _, v := range served[:s.n] {
		ttft += v.TTFT().Seconds() / float64(s.n)
		e2e += v.E2E().Seconds() / float64(s.n)
	}
	return max(ttft, math.SmallestNonzeroFloat64), max(e2e, math.SmallestNonzeroFloat64)
}
