package cacheroute

import (
	"cmp"
	"slices"

	"gatewayd/pkg/router"
)

// keep gives admitted keys their previous homes, as many as they want, the
// hottest keys first. A home without room is lost; of too many, the least
// loaded stay.
func (d *draft) keep() {
	var homes []uint16
	for _, i := range d.order {
		k := &d.keys[i]
		homes = append(homes[:0], d.past(k)...)
		if len(homes) > int(k.want) {
			slices.SortFunc(homes, func(a, b uint16) int {
				return cmp.Or(cmp.Compare(d.load[a], d.load[b]), cmp.Compare(a, b))
			})
		}
		for _, w := range homes {
			if k.n < k.want && d.fits(k, w) {
				d.add(k, w)
			}
		}
	}
}

// settle gives admitted keys the homes they still lack, the hottest keys first.
// A key that fits nowhere becomes cold; one that finds some of its homes has
// fewer copies.
func (d *draft) settle() {
	admitted := d.order[:0]
	warm := 0.0
	for _, i := range d.order {
		k := &d.keys[i]
		for k.n < k.want {
			w, ok := d.newHome(k, d.rates[i].Key)
			if !ok {
				d.shrink(k)
				break
			}
			d.add(k, w)
		}
		if k.n > 0 {
			admitted = append(admitted, i)
			warm += k.rate
		}
	}
	d.order = admitted
	d.cold = max(0, d.mean-warm/float64(len(d.load)))
}

// newHome returns the first worker of the key's rendezvous order that fits, if
// its load is near that of the least loaded one that fits, else the latter. So
// cold and warm paths agree, and the prefix is often there already.
func (d *draft) newHome(k *key, name uint64) (home uint16, ok bool) {
	least, first, highest := -1, -1, uint64(0)
	for w, hash := range d.hashes {
		if !d.fits(k, uint16(w)) {
			continue
		}
		if least < 0 || d.load[w] < d.load[least] {
			least = w
		}
		if weight := router.Rendezvous(name, hash); first < 0 || weight > highest {
			first, highest = w, weight
		}
	}
	switch {
	case least < 0:
		return 0, false
	case d.load[first]-d.load[least] <= d.Near*d.mean:
		return uint16(first), true
	default:
		return uint16(least), true
	}
}

// shrink makes do with the homes that a key has.
func (d *draft) shrink(k *key) {
	before := k.share()
	k.want = k.n
	for _, w := range d.of(k) {
		d.load[w] += k.share() - before
	}
}
