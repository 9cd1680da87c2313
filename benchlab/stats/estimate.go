package stats

import "math"

// Estimate is a figure, a mean over seeds, and how sure it is.
type Estimate struct {
	Mean  float64 // NaN if undefined in any run
	Error float64 // standard error of the mean; NaN if unknown
	DF    float64 // degrees of freedom of the error

	seeds float64 // share of the seeds' own component in the variance of Values
	total float64 // that variance, of the mean over seeds
}

// Of estimates the mean of a sample whose clusters count as the given number. The
// error is unknown with one seed for a figure that is not resampled, and with one
// cluster for one that is, whose draws are all alike; with one seed for a
// resampled one it does not cover the seeds.
func Of(s Sample, effective float64) Estimate {
	e := Estimate{Mean: mean(s.Values), Error: math.NaN()}
	n := float64(len(s.Values))
	if n > 1 {
		e.total = variance(s.Values, e.Mean) / n
	}
	if s.Draws == nil {
		if n > 1 {
			e.Error, e.DF, e.seeds = math.Sqrt(e.total), n-1, 1
		}
		return e
	}
	if effective <= 1 {
		return e
	}
	within, each := spread(s)
	between := 0.0
	if n > 1 {
		common := max(0, each-within) / (n - 1)
		between = max(0, e.total-common)
	}
	v := within + between
	e.Error = math.Sqrt(v)
	satterthwaite := within * within / max(1, effective-1)
	if between > 0 {
		satterthwaite += e.total * e.total / (n - 1)
		e.seeds = between / e.total
	}
	e.DF = math.Inf(1)
	if satterthwaite > 0 {
		e.DF = max(1, v*v/satterthwaite)
	}
	return e
}

// spread returns the variance over draws of the mean over seeds, and the mean
// over seeds of the variance over draws.
func spread(s Sample) (ofMean, each float64) {
	means := make([]float64, len(s.Draws[0]))
	for _, draws := range s.Draws {
		each += variance(draws, mean(draws)) / float64(len(s.Draws))
		for d, v := range draws {
			means[d] += v / float64(len(s.Draws))
		}
	}
	return variance(means, mean(means)), each
}

// Half is half the width of the interval outside of which a true value lies with
// the given probability; NaN if the error is unknown.
func (e Estimate) Half(outside float64) float64 {
	if e.Error == 0 || math.IsNaN(e.Error) {
		return e.Error
	}
	return studentQuantile(outside, e.DF) * e.Error
}

// P is the probability of a mean at least as far from 0 if the truth is 0.
func (e Estimate) P() float64 {
	switch {
	case math.IsNaN(e.Error) || math.IsNaN(e.Mean):
		return math.NaN()
	case e.Mean == 0:
		return 1
	case e.Error == 0:
		return 0
	}
	return studentTail(e.Mean/e.Error, e.DF)
}

// Detectable is the smallest true value that is told from 0 with a probability of
// power by an interval that leaves out the given probability (Cohen, Statistical
// Power Analysis, 1988).
func (e Estimate) Detectable(outside, power float64) float64 {
	if e.Error == 0 || math.IsNaN(e.Error) {
		return e.Error
	}
	return (studentQuantile(outside, e.DF) + studentQuantile(2*(1-power), e.DF)) * e.Error
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// variance is that of a sample with the given mean.
func variance(values []float64, mean float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(max(1, len(values)-1))
}
