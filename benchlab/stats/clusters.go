package stats

import "math/rand/v2"

// Clusters numbers the clusters that requests belong to, alike in all runs. The
// zero Clusters has none.
type Clusters struct {
	sizes    []int // requests in each cluster, over all that was assigned
	sessions map[uint64]int32
	rows     map[int]int32 // requests without a session, by their place
}

// Assign returns the cluster of each request, from 0: requests of one session
// share one, in this traffic and in others. A request of session 0, which is
// none, is alone with those at its place in other traffic.
func (c *Clusters) Assign(sessions []uint64) []int32 {
	if c.sessions == nil {
		c.sessions, c.rows = map[uint64]int32{}, map[int]int32{}
	}
	of := make([]int32, len(sessions))
	for row, s := range sessions {
		n, known := c.sessions[s]
		if s == 0 {
			n, known = c.rows[row]
		}
		if !known {
			n = int32(len(c.sizes))
			c.sizes = append(c.sizes, 0)
			if s == 0 {
				c.rows[row] = n
			} else {
				c.sessions[s] = n
			}
		}
		of[row] = n
		c.sizes[n]++
	}
	return of
}

// Len is the number of clusters.
func (c *Clusters) Len() int { return len(c.sizes) }

// Effective is the number of equally large clusters that would tell as much:
// (sum n)^2 / sum n^2; 0 without requests.
func (c *Clusters) Effective() float64 {
	sum, squares := 0.0, 0.0
	for _, n := range c.sizes {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

// draw fills w with how often each cluster is taken when as many as there are
// are taken with replacement.
func draw(rng *rand.Rand, w []uint16) {
	clear(w)
	n := uint32(len(w))
	for range w {
		w[rng.Uint32N(n)]++
	}
}
