package cacheroute

import (
	"math"
	"testing"
)

func TestCurve(t *testing.T) {
	c := newCurve(1e-3, 10, 0)
	for i := range 100 {
		c.add(1+float64(i)/1e6, 10)
	}
	if stay := c.stay(1000); !math.IsInf(stay, 1) {
		t.Errorf("all fits, but keys stay for %v s", stay)
	}
	if stay := c.stay(500); math.Abs(stay-math.Ln2) > 1e-3 {
		t.Errorf("half of equal keys fit: they stay for %v s, want ln 2", stay)
	}
	if hits := c.hits(math.Ln2); math.Abs(hits-500) > 1 {
		t.Errorf("%v tokens per second are found, want half of 1000", hits)
	}
	c.fresh = 5
	if stay := c.stay(1100); math.Abs(stay-20) > 0.1 {
		t.Errorf("with fresh keys of 5 tokens per second in the room that is left, keys stay for %v s, want 20", stay)
	}
}
