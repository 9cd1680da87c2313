package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

func near(t *testing.T, name string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// TestStudent compares with tables.
func TestStudent(t *testing.T) {
	for _, x := range []struct{ df, outside, t float64 }{
		{1, 0.05, 12.7062}, {2, 0.05, 4.30265}, {4, 0.05, 2.77645}, {10, 0.01, 3.16927}, {30, 0.05, 2.04227},
		{100, 0.1, 1.66023}, {5, 0.05, 2.57058}, {math.Inf(1), 0.05, 1.95996}, {1e6, 0.05, 1.95997},
	} {
		near(t, "quantile", studentQuantile(x.outside, x.df), x.t, 2e-4*x.t)
		near(t, "tail", studentTail(x.t, x.df), x.outside, 1e-5)
	}
	near(t, "normal quantile", normalQuantile(0.05), 1.959964, 1e-6)
}

// percentile is the plain way to a weighted percentile.
func percentile(values []float64, of []int32, w []uint16, infinite float64, share float64) float64 {
	var all []float64
	for i, v := range values {
		for range w[of[i]] {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	total := float64(len(all)) + infinite
	if rank := int(math.Ceil(total*share-1e-9)) - 1; rank < len(all) && total > 0 {
		return all[max(0, rank)]
	}
	return math.NaN()
}

// TestFigures compares ratios and percentiles under weights with a plain twin
// that writes the weighted sample out.
func TestFigures(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for range 200 {
		var c Clusters
		ids := make([]uint64, 1+rng.IntN(60))
		for i := range ids {
			ids[i] = uint64(rng.IntN(12))
		}
		of := c.Assign(ids)
		var values []float64
		var whose []int32
		r := NewRun(c.Len(), of, 3, func(i int, into []float64) {
			into[0] = 1
			if rng.IntN(10) > 0 {
				v := float64(rng.IntN(20))
				into[1], into[2] = 1, v
				values, whose = append(values, v), append(whose, of[i])
			}
		})
		order := NewOrder(values, whose)
		shares := []float64{0.01, 0.5, 0.59, 0.61, 0.9, 0.99, 1}
		r.Ratio(2, 1, 10)
		for _, s := range shares {
			r.Percentile(order, 1, 0, s)
		}
		w := make([]uint16, c.Len())
		draw(rng, w)
		got := make([]float64, len(r.figures))
		r.under(w, make([]float64, 3), got)
		sum, n, all := 0.0, 0.0, 0.0
		for i, v := range values {
			sum, n = sum+v*float64(w[whose[i]]), n+float64(w[whose[i]])
		}
		for _, k := range of {
			all += float64(w[k])
		}
		want := []float64{10 * sum / n}
		for _, s := range shares {
			want = append(want, percentile(values, whose, w, all-n, s))
		}
		for i := range want {
			if !(math.Abs(got[i]-want[i]) < 1e-9 || math.IsNaN(got[i]) && math.IsNaN(want[i])) {
				t.Fatalf("figure %d: got %v, want %v", i, got[i], want[i])
			}
		}
	}
}

// TestUndefined keeps what a run does not have apart from zero.
func TestUndefined(t *testing.T) {
	r := NewRun(1, []int32{0}, 1, func(int, []float64) {})
	r.Undefined()
	r.Ratio(0, 0, 1)
	out := Bootstrap(1, [][]*Run{{r, r}}, 5, 1)
	for f, s := range out[0] {
		e := Of(s, 1)
		if !math.IsNaN(e.Mean) || !math.IsNaN(e.Half(0.05)) || !math.IsNaN(e.P()) {
			t.Errorf("figure %d is %+v", f, e)
		}
	}
}

// TestClusters are the same for a session in all traffic.
func TestClusters(t *testing.T) {
	var c Clusters
	a, b := c.Assign([]uint64{5, 0, 5, 0, 9}), c.Assign([]uint64{9, 0, 5, 5, 7})
	if want := []int32{0, 1, 0, 2, 3}; !slices.Equal(a, want) {
		t.Errorf("got %v, want %v", a, want)
	}
	if want := []int32{3, 1, 0, 0, 4}; !slices.Equal(b, want) {
		t.Errorf("got %v, want %v", b, want)
	}
	if got, want := c.Effective(), 100./(16+4+1+4+1); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v effective clusters, want %v", got, want)
	}
	if got := new(Clusters).Effective(); got != 0 {
		t.Errorf("nothing has %v effective clusters", got)
	}
}

// TestSame holds that two contenders that do the same do not differ, and that
// nothing depends on the number of processors.
func TestSame(t *testing.T) {
	w := world{sessions: 30, seeds: 3, contenders: 1, session: 3, seed: 2, noise: 1}
	draws := func() ([]Sample, float64) { return w.samples(rand.New(rand.NewPCG(1, 2)), 50) }
	a, effective := draws()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b, _ := draws()
	if !reflect.DeepEqual(a, b) {
		t.Error("one processor gives other draws")
	}
	d := a[0].Minus(b[0])
	e := Of(d, effective)
	f := Together([]Sample{d, d}, []Estimate{e, e}, 0.95, 1)
	if e.Mean != 0 || e.Half(f.Outside) != 0 || f.Adjusted(e.P()) != 1 || e.Detectable(f.Outside, 0.8) != 0 {
		t.Errorf("the same differs from itself: %+v", e)
	}
}

// TestOnce covers figures that a run has once: the paired t interval over seeds.
func TestOnce(t *testing.T) {
	a, b := Sample{Values: []float64{1, 2, 3, 4, 5}}, Sample{Values: []float64{1.1, 2.3, 3.2, 4.1, 5.3}}
	e := Of(b.Minus(a), 100)
	near(t, "mean", e.Mean, 0.2, 1e-12)
	near(t, "half", e.Half(0.05), 2.77645*0.1/math.Sqrt(5), 1e-5)
	near(t, "p", e.P(), 0.01107, 1e-4)
	one := Of(Sample{Values: []float64{3}}, 100)
	if one.Mean != 3 || !math.IsNaN(one.Half(0.05)) {
		t.Errorf("one seed: %+v, half %v", one, one.Half(0.05))
	}
	same := Of(Sample{Values: []float64{2, 2, 2}}, 100)
	if same.Half(0.05) != 0 || same.P() != 0 {
		t.Errorf("seeds that agree: %+v", same)
	}
}

func BenchmarkBootstrap(b *testing.B) {
	const requests, sessions, contenders, seeds = 7851, 5400, 7, 5
	rng := rand.New(rand.NewPCG(1, 1))
	var c Clusters
	ids := make([]uint64, requests)
	for i := range ids {
		ids[i] = 1 + uint64(rng.IntN(sessions))
	}
	of := c.Assign(ids)
	runs := make([][]*Run, contenders)
	for k := range runs {
		for range seeds {
			var values []float64
			r := NewRun(c.Len(), of, 14, func(_ int, into []float64) {
				for i := range into {
					into[i] = 1
				}
				values = append(values, rng.ExpFloat64())
			})
			o := NewOrder(values, of)
			for range 6 {
				r.Ratio(1, 0, 1)
			}
			for _, share := range []float64{0.5, 0.99, 0.99, 0.99, 0.99} {
				r.Percentile(o, 0, 0, share)
			}
			runs[k] = append(runs[k], r)
		}
	}
	for b.Loop() {
		Bootstrap(c.Len(), runs, 1000, 1)
	}
}

// TestOneCluster says nothing of how sure a figure is.
func TestOneCluster(t *testing.T) {
	s := Sample{Values: []float64{1, 2}, Draws: [][]float64{{1, 1}, {2, 2}}}
	if e := Of(s, 1); e.Mean != 1.5 || !math.IsNaN(e.Error) || !math.IsNaN(e.P()) || !math.IsNaN(e.Detectable(0.05, 0.8)) {
		t.Errorf("got %+v", e)
	}
}
