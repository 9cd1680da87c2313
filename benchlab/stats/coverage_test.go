package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// world draws traffic whose truth is known: sessions of a few requests, with
// effects of the session, the seed, both together and the request, which add up.
// Contenders differ in their mean and react to a session or a seed in part alike.
type world struct {
	sessions, seeds, contenders int
	session, seed, both, noise  float64 // standard deviations
	alike                       float64 // share of the session's and the seed's effect that contenders have in common
	offset                      float64 // of every contender after the first
	share                       float64 // of the percentile; 0: the mean
}

// samples draws the world once and resamples it.
func (w *world) samples(rng *rand.Rand, draws int) ([]Sample, float64) {
	const level = 100
	var c Clusters
	var ids []uint64
	for g := range w.sessions {
		for range 1 + rng.IntN(5) {
			ids = append(ids, uint64(g+1))
		}
	}
	of := c.Assign(ids)
	common := func() float64 { return math.Sqrt(w.alike) * rng.NormFloat64() }
	own := func(v float64) float64 { return v + math.Sqrt(1-w.alike)*rng.NormFloat64() }
	bySession, bySeed := make([]float64, w.sessions), make([]float64, w.seeds)
	for g := range bySession {
		bySession[g] = common()
	}
	for s := range bySeed {
		bySeed[s] = common()
	}
	runs := make([][]*Run, w.contenders)
	for k := range runs {
		mine := make([]float64, w.sessions)
		for g := range mine {
			mine[g] = w.session * own(bySession[g])
		}
		for s := range w.seeds {
			seed := w.seed * own(bySeed[s])
			both := make([]float64, w.sessions)
			for g := range both {
				both[g] = w.both * rng.NormFloat64()
			}
			var values []float64
			r := NewRun(c.Len(), of, 2, func(i int, into []float64) {
				v := level + mine[of[i]] + seed + both[of[i]] + w.noise*(rng.ExpFloat64()-1)
				if k > 0 {
					v += w.offset
				}
				into[0], into[1] = 1, v
				values = append(values, v)
			})
			if w.share > 0 {
				r.Percentile(NewOrder(values, of), 0, 0, w.share)
			} else {
				r.Ratio(1, 0, 1)
			}
			runs[k] = append(runs[k], r)
		}
	}
	var out []Sample
	for _, figures := range Bootstrap(c.Len(), runs, draws, rng.Uint64()) {
		out = append(out, figures[0])
	}
	return out, c.Effective()
}

// TestCoverage holds that 95 % intervals of differences hold the truth in about
// 95 % of the worlds, whatever it is that varies.
func TestCoverage(t *testing.T) {
	const worlds, draws = 200, 100
	for _, x := range []struct {
		name      string
		world     world
		low, high float64 // share of the intervals that hold the truth
	}{
		{"sessions vary", world{sessions: 40, seeds: 5, contenders: 2, session: 3, noise: 1, offset: 1}, 0.915, 0.975},
		{"seeds vary", world{sessions: 40, seeds: 5, contenders: 2, seed: 2, noise: 1, offset: 1}, 0.915, 0.98},
		{"sessions within seeds vary", world{sessions: 40, seeds: 5, contenders: 2, both: 3, noise: 1, offset: 1}, 0.915, 0.985},
		{"all vary", world{sessions: 40, seeds: 5, contenders: 2, session: 3, seed: .3, both: 3, noise: 2, offset: 1}, 0.915, 0.985},
		{"few seeds", world{sessions: 40, seeds: 3, contenders: 2, session: 3, seed: .5, noise: 2, offset: 1}, 0.915, 0.99},
		{"contenders much alike", world{sessions: 40, seeds: 5, contenders: 2, session: 3, seed: 2, noise: 1, alike: .95, offset: 1}, 0.915, 0.98},
		{"a high percentile", world{sessions: 100, seeds: 5, contenders: 2, session: 1, noise: 3, offset: 1, share: .9}, 0.92, 0.985},
	} {
		t.Run(x.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			held := 0
			for range worlds {
				samples, effective := x.world.samples(rng, draws)
				e := Of(samples[1].Minus(samples[0]), effective)
				if math.Abs(e.Mean-x.world.offset) <= e.Half(0.05) {
					held++
				}
			}
			if got := float64(held) / worlds; got < x.low || got > x.high {
				t.Errorf("%.3f of the intervals hold the truth, want %.3f to %.3f", got, x.low, x.high)
			} else {
				t.Logf("%.3f of the intervals hold the truth", got)
			}
		})
	}
}

// TestFamilyError holds that among many contenders without a difference one is
// called different in about 5 % of the worlds, and that the correction costs less
// than Bonferroni's when they are much alike.
func TestFamilyError(t *testing.T) {
	const worlds, draws = 150, 200
	for _, alike := range []float64{0, 0.9} {
		w := world{sessions: 40, seeds: 5, contenders: 5, session: 3, seed: .3, both: 1, noise: 1, alike: alike}
		rng := rand.New(rand.NewPCG(3, 9))
		wrong, level, worst := 0, 0.0, 0.0
		for range worlds {
			samples, effective := w.samples(rng, draws)
			var d []Sample
			var e []Estimate
			for _, s := range samples[1:] {
				d = append(d, s.Minus(samples[0]))
				e = append(e, Of(d[len(d)-1], effective))
			}
			f := Together(d, e, 0.95, 1)
			level += f.Outside / worlds
			any, least := false, 1.0
			for _, x := range e {
				any = any || math.Abs(x.Mean) > x.Half(f.Outside)
				least = min(least, f.Adjusted(x.P()))
			}
			if any {
				wrong++
			}
			if any != (least <= 0.05) {
				worst = max(worst, math.Abs(least-0.05))
			}
		}
		got := float64(wrong) / worlds
		t.Logf("alike %v: %.3f of the worlds have a false difference, mean level %.4f", alike, got, level)
		if got < 0.01 || got > 0.075 {
			t.Errorf("alike %v: %.3f of the worlds have a false difference, want about 0.05", alike, got)
		}
		if level < 0.05/4 || level > 0.05 {
			t.Errorf("level %.4f is not between Bonferroni's and none", level)
		}
		if worst > 0.01 {
			t.Errorf("an interval and its adjusted p disagree by %.3f", worst)
		}
	}
}

// TestDetectable holds that a difference of the size that is called detectable is
// seen in about 80 % of the worlds.
func TestDetectable(t *testing.T) {
	const worlds, draws = 200, 100
	w := world{sessions: 40, seeds: 5, contenders: 2, session: 3, noise: 1}
	rng := rand.New(rand.NewPCG(1, 1))
	mean := 0.0
	for range worlds {
		samples, effective := w.samples(rng, draws)
		e := Of(samples[1].Minus(samples[0]), effective)
		mean += e.Detectable(0.05, 0.8) / worlds
	}
	w.offset = mean
	seen := 0
	for range worlds {
		samples, effective := w.samples(rng, draws)
		if e := Of(samples[1].Minus(samples[0]), effective); e.Mean > e.Half(0.05) {
			seen++
		}
	}
	if got := float64(seen) / worlds; got < 0.74 || got > 0.86 {
		t.Errorf("a difference of %.3f is seen in %.3f of the worlds, want 0.8", mean, got)
	}
}
