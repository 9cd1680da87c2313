package cacheroute

import (
	"cmp"
	"math"
	"slices"

	"gatewayd/pkg/strategies/internal/lpt"
	"gatewayd/pkg/strategies/internal/rendezvous"
)

// keep gives admitted keys their previous homes, as many as they want, the
// hottest keys first, those that have too many last: of these the least loaded stay.
// A home without room is lost. It reports whether some key lacks a home.
func (d *draft) keep() (lacking bool) {
	var many []*key
	for i := range d.keys {
		k := &d.keys[i]
		switch {
		case k.had > k.want:
			many = append(many, k)
			continue
		case k.had > 1:
			d.keepSome(k)
		case k.had == 1 && d.fits(k, int(k.home)):
			d.add(k, int(k.home))
		}
		lacking = lacking || k.n < k.want
	}
	for _, k := range many {
		d.keepSome(k)
		lacking = lacking || k.n < k.want
	}
	return lacking
}

// keepSome is keep for a key with several homes.
func (d *draft) keepSome(k *key) {
	homes := d.previous.Of(int(k.at))
	if len(homes) > int(k.want) {
		homes = slices.Clone(homes)
		slices.SortFunc(homes, func(a, b uint16) int {
			return cmp.Or(cmp.Compare(d.load[a], d.load[b]), cmp.Compare(a, b))
		})
	}
	for _, w := range homes {
		if k.n < k.want && d.fits(k, int(w)) {
			d.add(k, int(w))
		}
	}
}

// settle gives admitted keys the homes they still lack, the hottest keys first.
// A key that fits nowhere becomes cold; one that finds some of its homes has
// fewer copies.
func (d *draft) settle() {
	s := settler{draft: d, order: rendezvous.New(d.IDs), tree: lpt.New(d.load), smallest: math.Inf(1), grown: make([]bool, len(d.load))}
	for i := range d.keys {
		s.smallest = min(s.smallest, d.keys[i].size)
	}
	for w := range d.load {
		s.grow(w)
	}
	for i := range d.keys {
		k := &d.keys[i]
		for k.n < k.want {
			w := s.newHome(k)
			if w < 0 {
				s.shrink(k)
				break
			}
			d.add(k, w)
			s.grow(w)
		}
	}
}

// settler finds homes. Loads only grow meanwhile, so the tree is brought up to date
// only when the least load is wanted, and an old one is a bound.
type settler struct {
	*draft
	order    *rendezvous.Order
	tree     *lpt.Tree // the workers that have room for the smallest key, by load
	grown    []bool    // workers whose place in the tree is out of date
	behind   []uint16  // these, as a list
	floor    float64   // that no worker's load in the tree is below
	smallest float64
}

// grow notes that a worker's load or room has changed.
func (s *settler) grow(w int) {
	if !s.grown[w] {
		s.grown[w] = true
		s.behind = append(s.behind, uint16(w))
	}
}

// least returns the least loaded worker of those that may take a key, and its load;
// that is infinite if there is none.
func (s *settler) least() (w int, load float64) {
	for _, w := range s.behind {
		s.grown[w] = false
		if s.room[w] < s.smallest {
			s.tree.Set(int(w), math.Inf(1))
		} else {
			s.tree.Set(int(w), s.load[w])
		}
	}
	s.behind = s.behind[:0]
	w = s.tree.Least()
	s.floor = s.tree.Load(w)
	return w, s.floor
}

// newHome returns the first worker of the key's rendezvous order that fits, if
// its load is near that of the least loaded one that fits, else the latter; -1 if
// none fits. So the same keys find the same homes wherever they are planned, and
// one worker more or less moves few of them.
func (s *settler) newHome(k *key) int {
	first := s.order.First(k.name)
	fits := s.fits(k, first)
	if fits && s.load[first]-s.floor <= s.Near*s.mean {
		return first
	}
	least, load := s.least()
	if math.IsInf(load, 1) {
		return -1
	}
	if !s.fits(k, least) {
		if least = s.leastThatFits(k); least < 0 {
			return -1
		}
	}
	if !fits {
		first = s.order.FirstOf(k.name, func(w int) bool { return s.fits(k, w) })
	}
	if first >= 0 && s.load[first]-s.load[least] <= s.Near*s.mean {
		return first
	}
	return least
}

func (s *settler) leastThatFits(k *key) int {
	least := -1
	for w := range s.load {
		if s.fits(k, w) && (least < 0 || s.load[w] < s.load[least]) {
			least = w
		}
	}
	return least
}

// shrink makes do with the homes that a key has.
func (s *settler) shrink(k *key) {
	before := k.share()
	k.want = k.n
	if k.n == 0 {
		return
	}
	for _, w := range s.of(k) {
		s.load[w] += (k.share() - before) * s.slow[w]
		s.grow(int(w))
	}
}
