package cacheroute

// slowness returns 1 by the speed of each worker, and the sum of the speeds.
func (p Planned) slowness() (slow []float64, power float64) {
	slow = make([]float64, len(p.IDs))
	for w := range slow {
		speed := p.speed(w)
		slow[w], power = 1/speed, power+speed
	}
	return slow, power
}

// speed is that of one worker.
func (p Planned) speed(w int) float64 {
	if p.Speed == nil {
		return 1
	}
	return p.Speed[w]
}

// powerOf is the sum of the speeds of some workers.
func (p Planned) powerOf(workers []uint16) (power float64) {
	for _, w := range workers {
		power += p.speed(int(w))
	}
	return power
}

// expected is the load of each worker in requests per second.
func (p Planned) expected(placed *Placement) []float64 {
	out := make([]float64, len(placed.Load))
	for w, l := range placed.Load {
		out[w] = l * p.speed(w)
	}
	return out
}
