package cacheroute

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gatewayd/pkg/router"
)

// divideTwin is the literal form of the choice of a division: it looks at every
// key by itself and finds the time that keys stay by halving intervals.
type divideTwin struct {
	Planned
	rates []router.KeyRate // best first
	once  float64
	again float64
}

func newDivideTwin(p Planned, rates []router.KeyRate) *divideTwin {
	t := &divideTwin{Planned: p, rates: slices.Clone(rates), once: math.Ln2 / p.HalfLife}
	slices.SortStableFunc(t.rates, func(a, b router.KeyRate) int {
		return cmp.Compare(b.Rate*(1+b.Tokens/attention), a.Rate*(1+a.Tokens/attention))
	})
	one, two := 0.0, 0.0
	for _, r := range rates {
		if r.Rate <= t.once {
			one += r.Rate
		} else if r.Rate <= 2*t.once {
			two += r.Rate
		}
	}
	t.again = min(1, two/max(one, 1e-300))
	return t
}

// found is the tokens per second of some keys that a cache of a size finds, while so
// many a second are of keys that never come back.
func (t *divideTwin) found(keys []router.KeyRate, cache, fresh float64) float64 {
	type key struct{ rate, size float64 }
	var list []key
	for _, r := range keys {
		if r.Rate > t.once {
			list = append(list, key{r.Rate, r.Tokens})
			continue
		}
		list = append(list, key{r.Rate * t.again, r.Tokens})
		fresh += r.Rate * (1 - t.again) * r.Tokens
	}
	asked := func(stay float64) float64 {
		sum := fresh * stay
		for _, k := range list {
			sum += k.size * (1 - math.Exp(-k.rate*stay))
		}
		return sum
	}
	low, high := 0.0, 1e12
	for range 60 {
		if middle := (low + high) / 2; asked(middle) > cache {
			high = middle
		} else {
			low = middle
		}
	}
	hits := 0.0
	for _, k := range list {
		hits += k.rate * k.size * (1 - math.Exp(-k.rate*low))
	}
	return hits
}

// share is what is cached with some cold workers, if the others are filled with
// keys to a part, and whether the cold ones can carry their traffic.
func (t *divideTwin) share(cold int, fill float64) (hit float64, carried bool) {
	n := float64(len(t.IDs))
	total, work, budget := t.Unkeyed, t.Unkeyed*t.Tokens, 0.0
	for _, r := range t.rates {
		total, work = total+r.Rate, work+r.Rate*r.Tokens
	}
	for _, b := range t.Budget {
		budget += b
	}
	if cold == 0 {
		return t.found(t.rates, budget, t.Unkeyed*t.Tokens+t.Waste*total) / work, true
	}
	proven := func(r router.KeyRate) bool { return r.Rate*(1+r.Tokens/attention) >= 2*t.once }
	i, held, warm := 0, 0.0, 0.0
	for i < len(t.rates) && proven(t.rates[i]) && t.rates[i].Rate > t.Everywhere*total/n {
		held, warm = held+t.rates[i].Tokens, warm+t.rates[i].Rate*t.rates[i].Tokens
		i++
	}
	each := budget/n - held
	room := fill * (n - float64(cold)) * each
	ballast := i
	for i < len(t.rates) && proven(t.rates[i]) && t.rates[i].Tokens <= room {
		room -= t.rates[i].Tokens
		i++
	}
	tail, all := t.Unkeyed, 0.0
	for _, r := range t.rates[i:] {
		tail += r.Rate
	}
	for _, r := range t.rates[:i] {
		all += r.Rate * r.Tokens
	}
	coldPart := float64(cold) / n
	warm += t.found(t.rates[ballast:i], (n-float64(cold))*each, t.Waste*total*(1-coldPart))
	found := t.found(t.rates[i:], float64(cold)*each, t.Unkeyed*t.Tokens+t.Waste*total*coldPart)
	missed, there := 0.0, 0.0
	if t.Base > 0 {
		missed, there = (work-warm-found)/t.Base, (work-all-found)/t.Base
	}
	return (warm + found) / work, each > 0 && tail+there <= coldPart*(total+missed)
}

func TestDivideLikeTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	divided, wasted := 0, 0
	for round := range 60 {
		workers := 2 + rng.IntN(9)
		p := Planned{
			IDs: names(workers), QCap: 1e9, Near: DefaultNear, Bound: DefaultBound, Tokens: 50,
			HalfLife: 1000, Everywhere: []float64{0.5, 0.8}[rng.IntN(2)],
			Unkeyed: rng.Float64() * 0.3 * float64(rng.IntN(2)), Base: float64(rng.IntN(3)) * 100,
			Waste: []float64{0, 0, 0, 5, 50}[rng.IntN(5)],
		}
		slots := 5 + rng.IntN(40)
		p.Budget = slices.Repeat([]float64{float64(50 * slots)}, workers)
		keys, skew := workers*slots*(1+rng.IntN(6)), 0.6+0.8*rng.Float64()
		rates := make([]router.KeyRate, keys)
		for i := range rates {
			rates[i] = router.KeyRate{Key: uint64(i), Rate: 2 * math.Pow(float64(i+1), -skew), Tokens: float64(30 + rng.IntN(40))}
		}
		placed, zones, err := p.Divide(rates, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("round %d: %d workers, %d slots, %d keys, skew %.2f, %+v", round, workers, slots, keys, skew, zones)
		twin := newDivideTwin(p, rates)
		if zones.Split > 0 {
			if flat, _ := twin.share(0, 1); math.Abs(flat-zones.Flat) > 0.01 {
				t.Errorf("%s: %.3f without a division, the twin finds %.3f", name, zones.Flat, flat)
			}
			best := 0.0
			for cold := 1; cold < workers; cold++ {
				fills := 1
				if p.Waste > 0 {
					fills = 20
				}
				for i := range fills {
					if hit, carried := twin.share(cold, 1-float64(i)/20); carried {
						best = max(best, hit)
					}
				}
			}
			if math.Abs(best-zones.Split) > 0.01 {
				t.Errorf("%s: %.3f divided, the twin finds %.3f", name, zones.Split, best)
			}
		}
		if len(zones.Cold) > 0 {
			divided++
			if p.Waste > 0 {
				wasted++
			}
			lawsOfDivision(t, name, p, rates, placed, zones)
		}
	}
	if divided < 10 || wasted < 3 {
		t.Errorf("only %d placements were divided, %d with waste: the test tests little", divided, wasted)
	}
}

// lawsOfDivision: a key has one home or all, budgets hold, loads add up, and cold
// workers have no key that cold traffic could evict.
func lawsOfDivision(t *testing.T, name string, p Planned, rates []router.KeyRate, placed Placement, zones Zones) {
	room, load, total := slices.Clone(p.Budget), 0.0, p.Unkeyed
	for _, r := range rates {
		total += r.Rate
		homes := Homes(&placed.Table, r.Key)
		if n := len(homes); n > 1 && n != len(p.IDs) {
			t.Fatalf("%s: key %d has %d homes", name, r.Key, n)
		}
		for _, w := range homes {
			room[w] -= r.Tokens
		}
		if len(homes) == 1 && slices.Contains(zones.Cold, homes[0]) && r.Rate*p.HalfLife < immune*math.Ln2 {
			t.Errorf("%s: key %d at %.3g req/s lives on the cold worker %d", name, r.Key, r.Rate, homes[0])
		}
	}
	for w, left := range room {
		if left < -1e-6 {
			t.Errorf("%s: worker %d holds %.0f tokens too much", name, w, -left)
		}
		load += placed.Load[w] * p.speed(w)
	}
	if math.Abs(load-total) > 1e-6*total {
		t.Errorf("%s: the expected loads add up to %.4f, the rates to %.4f", name, load, total)
	}
}
