package stats

import "math"

// normalTail is the probability that a standard normal value is at least as far
// from 0 as z.
func normalTail(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// normalQuantile is the z with normalTail(z) = p.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfcinv(p) }

// studentTail is the probability that a value of Student's t distribution is at
// least as far from 0 as t.
func studentTail(t, df float64) float64 {
	if math.IsInf(df, 1) {
		return normalTail(t)
	}
	return betaRegularised(df/(df+t*t), df/2, 0.5)
}

// studentQuantile is the t with studentTail(t, df) = p, found by bisection.
func studentQuantile(p, df float64) float64 {
	low, high := 0.0, 1.0
	for studentTail(high, df) > p && high < 1e12 {
		low, high = high, high*2
	}
	for range 200 {
		if mid := low + (high-low)/2; studentTail(mid, df) > p {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// betaRegularised is the regularised incomplete beta function I_x(a, b), by its
// continued fraction (NIST DLMF 8.17.22) with Lentz's method.
func betaRegularised(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaRegularised(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	return front * betaFraction(x, a, b)
}

func betaFraction(x, a, b float64) float64 {
	const tiny, enough, most = 1e-300, 1e-15, 10_000
	guard := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/guard(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < most; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / guard(1+even*d)
		c = guard(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / guard(1+odd*d)
		c = guard(1 + odd/c)
		delta := d * c
		h *= delta
		if math.Abs(delta-1) < enough {
			break
		}
	}
	return h
}
