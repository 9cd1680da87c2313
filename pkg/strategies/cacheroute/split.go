package cacheroute

import (
	"math"
	"sort"

	"gatewayd/pkg/router"
)

// Zones is how the workers are divided by what an LRU cache does to keys. The
// zero Zones divides nothing.
type Zones struct {
	// Cold are the workers that the cold tail lives on, ascending. It is kept off
	// the others.
	Cold []uint16
	// Split and Flat are the predicted shares of prompt tokens that are cached with
	// the best division and with none, 0..1.
	Split, Flat float64
}

const (
	// loyal is how many times the rate of an admitted key another one needs to take
	// its place: estimates are noisy, and a change of places costs two caches.
	loyal = 2
	// proven is the number of requests that must speak for a key before a place is
	// kept for it.
	proven = 2
	// crowd is the number of proven keys from which the hottest tenth of them tells
	// how unequal they are.
	crowd = 30
	// certain is the number of requests that must speak for a key which is hot by
	// itself.
	certain = 32
	// stays is the share of the rate from which keys live everywhere down to which
	// those do that did so before.
	stays = 0.6
	// spare is the part of all caches that copies may take where nothing is divided.
	spare = 0.05
	// immune is how many times a key is asked for in the time after which a cold
	// worker forgets, so that cold traffic hardly ever evicts it.
	immune = 3
	// worth is how much more must be cached for workers to be divided; once they
	// are, half of it keeps them so.
	worth = 0.005
	// attention is the length in tokens at which a prompt's attention costs as much
	// prefill as all else, about that of an 8B model.
	attention = 1 << 16
)

// splitter looks for the best division.
type splitter struct {
	Planned
	rates   []router.KeyRate
	order   []ranked  // keys by what a place is worth, best first
	demand  []demand  // of the keys of the order
	load    []float64 // req/s of the first i keys of the order
	held    []float64 // tokens of the first i keys
	work    []float64 // tokens per second of the first i keys
	known   int       // first keys of the order that are proven
	ballast int       // first keys of the order that live everywhere
	once    float64   // rate up to which a single request speaks for a key
	least   float64   // lowest rate on curves
	again   float64   // share of the rate of such keys that comes back
	total   float64   // req/s
	budget  float64   // tokens of all workers
	slow    []float64 // 1 by the speed of each worker
	power   float64   // of all workers: the sum of their speeds
}

// demand is the requests per second of a key and its size in tokens.
type demand struct{ rate, size float64 }

// division is one way to divide the workers.
type division struct {
	cold    int     // workers for cold traffic
	power   float64 // of them: the sum of their speeds
	protect int     // keys after the ballast that are kept off it
	fill    float64 // share of the other workers' caches that these may take
	stay    float64 // on cold workers, s
	mean    float64 // load of a worker if all are equal: requests, and misses as requests, by speed
	tail    float64 // such load of cold traffic
	hit     float64 // share of tokens
}

func newSplitter(p Planned, rates []router.KeyRate, kept *router.Table) *splitter {
	s := &splitter{Planned: p, rates: rates}
	s.slow, s.power = p.slowness()
	s.order = decreasing(s.weighed(kept))
	s.gather()
	sums := func() []float64 { return make([]float64, len(s.order)+1) }
	s.load, s.held, s.work = sums(), sums(), sums()
	s.once = math.Ln2 / p.HalfLife
	least, one, two := proven*s.once, 0.0, 0.0
	for i, r := range s.order {
		rate, size := s.demand[i].rate, s.demand[i].size
		s.load[i+1], s.held[i+1], s.work[i+1] = s.load[i]+rate, s.held[i]+size, s.work[i]+rate*size
		if r.rate() >= least {
			s.known = i + 1
		}
		switch {
		case rate <= s.once:
			one += rate
		case rate <= 2*s.once:
			two += rate
		}
	}
	s.again = min(1, two/max(one, math.SmallestNonzeroFloat64))
	s.total = s.load[len(s.order)] + p.Unkeyed
	for _, b := range p.Budget {
		s.budget += b
	}
	for s.ballast < s.known && s.everywhere(kept, rates[s.order[s.ballast].position]) {
		s.ballast++
	}
	return s
}

// gather brings the demand into the order. It does nothing else, so that its visits
// to memory overlap.
func (s *splitter) gather() {
	s.demand = make([]demand, len(s.order))
	for i, r := range s.order {
		given := &s.rates[r.position]
		s.demand[i] = demand{given.Rate, given.Tokens}
	}
	for i := range s.demand {
		if k := &s.demand[i]; !(k.size > 0) {
			k.size = s.Tokens
		}
	}
}

// hot reports whether some keys are much hotter than others: then rates are a
// property of keys, and last. Sessions are all about as hot as each other, for as
// long as they live, and a worker sacrificed to those that just lost their place
// would cost more than it gives.
func (s *splitter) hot() bool {
	if s.known == 0 {
		return false
	}
	top := s.known / 10
	return s.known >= crowd && s.load[top] >= s.load[s.known]/2 ||
		s.ballast > 0 && s.certain() > 0
}

// certain is the number of keys, from the first of the order, that many requests
// speak for.
func (s *splitter) certain() int {
	n := 0
	for n < s.known && s.demand[n].rate >= certain*s.once {
		n++
	}
	return n
}

// everywhere reports whether a key lives on every worker; one that does stays so
// for a while.
func (s *splitter) everywhere(kept *router.Table, r router.KeyRate) bool {
	limit := s.Everywhere * s.total / float64(len(s.IDs))
	switch {
	case limit <= 0 || r.Rate <= stays*limit:
		return false
	case r.Rate > limit:
		return true
	}
	return len(Homes(kept, r.Key)) > 1
}

func (s *splitter) size(position int32) float64 { return s.sizeOf(s.rates[position]) }

// worth is what a place in a cache is worth to a key: prefill seconds saved per
// token held, twice that if it has a place, and twice that again if it has several,
// so that what lives everywhere comes before what does not yet.
func (p *Planned) worth(r *router.KeyRate, homes int) float64 {
	worth := r.Rate * (1 + p.sizeOf(*r)/attention)
	if homes > 0 {
		worth *= loyal
	}
	if homes > 1 {
		worth *= loyal
	}
	return worth
}

// lives is the number of workers of a key at a place in a table, 0 if it is another's.
func lives(t *router.Table, at int, key uint64) int {
	if at == len(t.Keys) || t.Keys[at] != key {
		return 0
	}
	return len(t.Of(at))
}

// weighed are the rates by worth.
func (s *splitter) weighed(kept *router.Table) []ranked {
	out := make([]ranked, 0, len(s.rates))
	at := 0 // both lists ascend
	for i := range s.rates {
		r := &s.rates[i]
		for at < len(kept.Keys) && kept.Keys[at] < r.Key {
			at++
		}
		if worth := s.worth(r, lives(kept, at, r.Key)); worth > 0 {
			out = append(out, newRanked(worth, i))
		}
	}
	return out
}

// best returns the best division and what is cached without one. The first of
// order become cold; before is their number so far, which stays unless another is
// clearly better.
func (s *splitter) best(before int, order []uint16) (best division, flat float64) {
	switch {
	case s.held[len(s.order)] <= s.budget:
		return division{}, 1 // all that came lately fits
	case len(s.IDs) < 2 || !s.hot():
		return division{}, 0
	}
	least, most := math.Inf(1), 0.0
	for i := range s.rates {
		if r := s.rates[i].Rate; r > 0 {
			least, most = min(least, r), max(most, r)
		}
	}
	fresh := s.Unkeyed * s.Tokens
	work := s.work[len(s.order)] + fresh
	s.least = least * max(s.again, 1e-3)
	tail := newCurve(s.least, most, fresh)
	room := s.rooms(order)
	all := room[len(order)]
	from := len(s.order) // of the keys in tail
	for cold := 1; cold < len(s.IDs) && all > 0; cold += 1 + cold/8 {
		end := s.ballast + s.fitting(all-room[cold])
		for ; from > end; from-- {
			s.add(tail, s.demand[from-1])
		}
		d := s.filled(division{cold: cold, power: s.powerOf(order[:cold])}, tail, end, room[cold], all-room[cold])
		if d.hit == 0 {
			continue
		}
		d.hit /= work
		lead := 0.0
		switch {
		case cold == before:
			lead = worth / 2
		case best.cold == before:
			lead = -worth / 2
		}
		if d.hit+lead > best.hit {
			best = d
		}
	}
	for ; from > 0; from-- {
		s.add(tail, s.demand[from-1])
	}
	tail.fresh += s.Waste * s.total
	return best, tail.hits(tail.stay(s.budget)) / work
}

// rooms is what the first workers of an order hold beside the ballast, in tokens,
// by their number.
func (s *splitter) rooms(order []uint16) []float64 {
	rooms := make([]float64, len(order)+1)
	for i, w := range order {
		rooms[i+1] = rooms[i] + max(0, s.Budget[w]-s.held[s.ballast])
	}
	return rooms
}

// missed is the load of computing tokens per second, as requests per second.
func (s *splitter) missed(tokens float64) float64 {
	if s.Base == 0 {
		return 0
	}
	return tokens / s.Base
}

// add adds a key to a curve. That a key came once says little about whether it
// comes again: of the traffic of such keys as much comes back as two requests
// speak for others (Good and Turing), and the rest is of keys not seen yet.
func (s *splitter) add(c *curve, k demand) {
	if k.rate > s.once {
		c.add(k.rate, k.size)
		return
	}
	c.add(max(k.rate*s.again, s.least), k.size)
	c.fresh += k.rate * (1 - s.again) * k.size
}

// fitting is the number of proven keys after the ballast whose prefixes fit.
func (s *splitter) fitting(tokens float64) int {
	return sort.Search(s.known-s.ballast, func(i int) bool { return s.held[s.ballast+i+1] > s.held[s.ballast]+tokens })
}
