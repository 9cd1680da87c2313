package cacheroute

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// zipf is 2,000 keys of Zipf 1.1 on 8 workers with room for 40 each: a division pays.
func zipf() router.PlanInput {
	in := asked(8, 2000)
	in.HalfLife, in.TotalRate, in.Reuse.Share = 4000*time.Second, 1, 0.7
	sum := 0.0
	for i := range in.Rates {
		in.Rates[i].Rate, in.Rates[i].Tokens = math.Pow(float64(i+1), -1.1), 1
		sum += in.Rates[i].Rate
	}
	for i := range in.Rates {
		in.Rates[i].Rate /= sum
	}
	for i := range in.Fleet.Workers {
		in.Fleet.Workers[i].KVTokens = 40
	}
	return in
}

// TestWorthOfLongPrompts: a long prompt takes more prefill for each token that is held.
func TestWorthOfLongPrompts(t *testing.T) {
	p := Planned{IDs: []string{"a", "b"}, Budget: []float64{1000, 1000}, HalfLife: 60}
	s := newSplitter(p, []router.KeyRate{{Key: 1, Rate: 10, Tokens: 100}, {Key: 2, Rate: 9, Tokens: attention}}, &router.Table{})
	if s.order[0].position != 1 {
		t.Error("the short prompt comes first")
	}
}

// TestDivisionInPlans: cold traffic is kept to the cold workers, and only where a signal
// tells what that is worth; one that is in force stays without. A way that turns out
// worse is given up, at last for no plan and no holds.
func TestDivisionInPlans(t *testing.T) {
	o := router.Options{"fill": "1"}
	in := zipf()
	p := planOf(t, o, in)
	if len(p.Rest.Among) == 0 || len(p.Rest.Among) > 6 || p.Rest.Order != router.ByCost || p.Bind.TTL > 0 || !strings.Contains(p.Note, "cold workers") {
		t.Fatalf("rest %+v, bind %+v, note %q", p.Rest, p.Bind, p.Note)
	}
	for i, key := range p.Table.Keys {
		cold := slices.ContainsFunc(p.Table.Of(i), func(w uint16) bool { return slices.Contains(p.Rest.Among, w) })
		if cold && len(p.Table.Of(i)) == 1 && in.Rates[key-1].Rate < in.Rates[200].Rate {
			t.Errorf("key %d, of a low rate, has a place on a cold worker", key)
		}
	}
	if p := planOf(t, router.Options{"fill": "1", "rest": "abstain"}, in); len(p.Rest.Among) > 0 {
		t.Errorf("cold traffic is left to others, and yet: %s", p.Note)
	}
	next := in
	next.Previous, next.PreviousAge, next.Now = &p, time.Minute, in.Now.Add(time.Minute)
	next.Reuse = router.Reuse{}
	if still := planOf(t, o, next); !slices.Equal(still.Rest.Among, p.Rest.Among) || !strings.Contains(still.Note, "workers stay divided") {
		t.Errorf("without a signal cold workers %v became %v: %s", p.Rest.Among, still.Rest.Among, still.Note)
	}
	blind := in
	blind.Reuse = router.Reuse{}
	if first := planOf(t, o, blind); len(first.Rest.Among) > 0 || !strings.Contains(first.Note, "homes are kept") {
		t.Errorf("divided without a signal: %s", first.Note)
	}
	lost := func(p router.Plan) router.PlanInput {
		bad := in
		p.Trial = router.Trial{Rival: 0.9, Rated: true}
		bad.Previous, bad.PreviousAge, bad.Now, bad.TotalRate = &p, time.Minute, in.Now.Add(24*time.Hour), 1
		return bad
	}
	undivided := planOf(t, o, lost(p))
	if len(undivided.Rest.Among) > 0 || len(undivided.Table.Keys) == 0 || undivided.Bind.TTL == 0 || !strings.Contains(undivided.Note, "not divided any more") {
		t.Errorf("a division that does not pay: %+v, %s", undivided.Bind, undivided.Note)
	}
	if none := planOf(t, o, lost(undivided)); len(none.Table.Keys) > 0 || none.Bind.TTL > 0 || !none.Trial.Lost || !strings.Contains(none.Note, "does not pay") {
		t.Errorf("a plan that does not pay: %d keys, %+v, %+v, %s", len(none.Table.Keys), none.Bind, none.Trial, none.Note)
	}
}

// TestDivisionPaysForItsMoves: the moves that a division begins with are weighed with what
// it will find in caches besides.
func TestDivisionPaysForItsMoves(t *testing.T) {
	in, p, z := zipf(), Planned{Tokens: 2}, Zones{Cold: []uint16{0}, Split: 0.75, Flat: 0.5}
	for was, want := range map[way]float64{unplanned: 0.5, undivided: 0.5, divided: 0} {
		if got := (config{}).account(in, p, z, trial{was: was}).gained; math.Abs(got-want) > 1e-9 {
			t.Errorf("from way %d it gains %v tokens per second, want %v", was, got, want)
		}
	}
	if got := (config{}).account(in, p, Zones{Split: 0.75, Flat: 0.5}, trial{was: undivided}).gained; got != 0 {
		t.Errorf("without a division %v tokens per second are gained", got)
	}
}

// TestOnceSeen: of the traffic of keys that came once as much comes back as is known of
// those that came twice.
func TestOnceSeen(t *testing.T) {
	p := Planned{IDs: []string{"a", "b"}, Budget: []float64{10, 10}, HalfLife: 60, Tokens: 1}
	var rates []router.KeyRate
	for key := range uint64(13) {
		times := 1.0
		if key < 3 {
			times = 2
		}
		rates = append(rates, router.KeyRate{Key: key + 1, Rate: times * math.Ln2 / p.HalfLife})
	}
	if s := newSplitter(p, rates, &router.Table{}); math.Abs(s.again-0.6) > 1e-9 {
		t.Errorf("%v of it comes back, want 6 of 10", s.again)
	}
}

// TestFillersAreImmune: only what is asked for three times before it would be due lives
// beside cold traffic.
func TestFillersAreImmune(t *testing.T) {
	const stay = 100
	for visits, want := range map[float64]zone{2.9: protected, 3.1: filler} {
		rates := []router.KeyRate{{Key: 1, Rate: visits / stay, Tokens: 1}}
		s := newSplitter(Planned{IDs: []string{"a", "b"}, Budget: []float64{10, 10}, HalfLife: 1000}, rates, &router.Table{})
		d := division{cold: 1, power: 1, protect: 1, stay: stay, mean: 0.02}
		d.tail = d.power*d.mean - rates[0].Rate // as much room as the key takes
		if got := s.zones(d)[0]; got != want {
			t.Errorf("a key that comes %v times has zone %d, want %d", visits, got, want)
		}
	}
}

// TestDivisionStays: workers are divided for half a point of what is cached, and stay
// divided for a quarter, so that noise does not turn them to and fro.
func TestDivisionStays(t *testing.T) {
	for was, least := range map[string]float64{"": 0.005, "0": 0.0025} {
		below, above := 0.0, 1.0 // gains next to the bound, on either side
		for tail := 0.05; tail < 0.8; tail *= 1.02 {
			rates := []router.KeyRate{{Key: 1, Rate: 50, Tokens: 1}}
			for key := range uint64(48) {
				r := router.KeyRate{Key: key + 2, Rate: 5, Tokens: 1}
				if key >= 8 {
					r.Rate = tail
				}
				rates = append(rates, r)
			}
			p := Planned{IDs: []string{"a", "b", "c"}, QCap: 1000, Bound: 1.05, Everywhere: 0.5, Tokens: 1, HalfLife: 100, Budget: []float64{5, 5, 5}}
			if was != "" {
				p.Cold = []uint16{0}
			}
			_, z, err := p.Divide(rates, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			gain := z.Split - z.Flat
			if divided := len(z.Cold) > 0; divided != (gain >= least) {
				t.Errorf("cold before %q, gain %.4f: divided %v, want at least %v for that", was, gain, divided, least)
			}
			if gain < least {
				below = max(below, gain)
			} else {
				above = min(above, gain)
			}
		}
		if below < least-0.0025 || above > least+0.0025 {
			t.Errorf("cold before %q: gains of %.4f and %.4f beside %v say nothing of it", was, below, above, least)
		}
	}
}
