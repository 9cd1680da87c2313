package cacheroute

// finest is the step in which the best fill is looked for.
const finest = 0.05

// filled completes a division: it chooses how much of the caches without cold
// traffic, which hold warm tokens, the protected keys take. end is how many keys of
// the order fit there at most, tail is the demand of all after them, and cold is
// what the cold workers hold. The hit is in tokens per second, and 0 if the cold
// workers cannot carry their traffic.
//
// What requests put into a cache besides evicts keys there too: with s the keys'
// sizes, l their rates and g what of Waste comes to these caches in a second, a key
// that is not asked for leaves after a time t (Che, Tung and Wang, 2002) of
//
//	sum s * (1 - exp(-l * t)) + g * t = warm
//
// so that each key more, which hits where cold traffic cannot evict it, costs the
// others a part of their hits. Without waste the caches are filled.
func (s *splitter) filled(d division, tail *curve, end int, cold, warm float64) (best division) {
	if s.Waste == 0 {
		d.fill, d.protect, d.stay = 1, end-s.ballast, tail.stay(cold)
		if found := tail.hits(d.stay); s.carries(&d, s.work[end], found) {
			return d
		}
		return division{}
	}
	waste, full := s.Waste*s.total, end
	for i := range int(1 / finest) {
		d.fill = 1 - finest*float64(i)
		d.protect = s.fitting(d.fill * warm)
		end = s.ballast + d.protect
		safe, rest := tail.emptied(waste*(1-d.power/s.power)), tail.with(waste*d.power/s.power)
		s.group(safe, s.ballast, end)
		s.group(rest, end, full)
		d.stay = rest.stay(cold)
		if !s.carries(&d, s.work[s.ballast]+safe.hits(safe.stay(warm)), rest.hits(d.stay)) || d.hit <= best.hit {
			break
		}
		best = d
	}
	return best
}

// carries completes a division of which the hits on either side are known, in tokens
// per second, and reports whether the cold workers can carry their traffic.
func (s *splitter) carries(d *division, warm, cold float64) bool {
	end := s.ballast + d.protect
	work := s.work[len(s.order)] + s.Unkeyed*s.Tokens
	d.hit = warm + cold
	d.tail = s.total - s.load[end] + s.missed(work-s.work[end]-cold)
	d.mean = (s.total + s.missed(work-d.hit)) / s.power
	return d.tail <= d.power*d.mean
}

// group adds keys of the order to a curve, those that are next to each other and so
// about as hot as each other at once.
func (s *splitter) group(c *curve, from, end int) {
	for from < end {
		next := min(end, from+1+(from-s.ballast)/16)
		c.addAll(step{float64(next - from), s.load[next] - s.load[from], s.held[next] - s.held[from], s.work[next] - s.work[from]})
		from = next
	}
}
