package workload

import (
	"math"
	"math/rand/v2"
)

// gaps draws n times between arrivals of mean 1: exponential ones if cv is 1, that
// is a Poisson process, else of the gamma law with that coefficient of variation,
// whose shape is 1/cv^2.
func gaps(n int, cv float64, seed uint64) []float64 {
	rng := stream(seed, streamGaps)
	out := make([]float64, n)
	shape := 1 / (cv * cv)
	for i := range out {
		if cv == 1 {
			out[i] = rng.ExpFloat64()
		} else {
			out[i] = gamma(rng, shape) / shape
		}
	}
	return out
}

// gamma draws from the gamma law of scale 1 (Marsaglia and Tsang, ACM Transactions
// on Mathematical Software 26, 2000), with their remedy for shapes below 1.
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Pow(1-rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
