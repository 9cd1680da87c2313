package estimator

import "math"

// near is how far an exponent may be from 0 for a polynomial to be exact.
const near = 1.0 / 256

// exp2 is 2^x. Times between requests are short against half-lives, so x is
// mostly close to 0, where six terms of the series of e^y are exact to the last
// bit or two and cost a tenth of math.Exp2.
func exp2(x float64) float64 {
	if x > near || x < -near || x != x {
		return math.Exp2(x)
	}
	y := x * math.Ln2
	square := y * y
	return 1 + (y + square*((1.0/2+y*(1.0/6))+square*(1.0/24+y*(1.0/120))))
}
