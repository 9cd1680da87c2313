package cacheroute

import (
	"math/bits"
	"sort"
	"testing"
)

// mersenne is the generator MT19937 with the draws of CPython's random module
// on top, so that published runs can be repeated request by request.
type mersenne struct {
	state [624]uint32
	next  int
}

// newMersenne seeds as random.Random(seed) does for a seed of up to 32 bits.
func newMersenne(seed uint32) *mersenne {
	m := &mersenne{next: 624}
	s := &m.state
	s[0] = 19650218
	for i := 1; i < 624; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i := 1
	step := func(v uint32) {
		s[i] = v
		if i++; i == 624 {
			s[0], i = s[623], 1
		}
	}
	for range 624 {
		step((s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + seed)
	}
	for range 623 {
		step((s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i))
	}
	s[0] = 1 << 31
	return m
}

func (m *mersenne) uint32() uint32 {
	if m.next == 624 {
		for i := range m.state {
			y := m.state[i]&(1<<31) | m.state[(i+1)%624]&(1<<31-1)
			m.state[i] = m.state[(i+397)%624] ^ y>>1 ^ y&1*0x9908b0df
		}
		m.next = 0
	}
	y := m.state[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// float is random.random().
func (m *mersenne) float() float64 {
	a, b := m.uint32()>>5, m.uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// below is random.randrange(n).
func (m *mersenne) below(n int) int {
	for {
		if r := int(m.uint32() >> (32 - bits.Len(uint(n)))); r < n {
			return r
		}
	}
}

// shuffle is random.shuffle.
func (m *mersenne) shuffle(list []int) {
	for i := len(list) - 1; i > 0; i-- {
		j := m.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// choices is random.choices(range(len(weights)), weights, k=k).
func (m *mersenne) choices(weights []float64, k int) []int {
	cumulative, sum := make([]float64, len(weights)), 0.0
	for i, w := range weights {
		sum += w
		cumulative[i] = sum
	}
	drawn := make([]int, k)
	for i := range drawn {
		x := m.float() * sum
		drawn[i] = sort.Search(len(weights)-1, func(j int) bool { return x < cumulative[j] })
	}
	return drawn
}

func TestMersenne(t *testing.T) {
	m := newMersenne(42)
	if got := [2]float64{m.float(), m.float()}; got != [2]float64{0.6394267984578837, 0.025010755222666936} {
		t.Errorf("first floats of seed 42: %v", got)
	}
	list := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	newMersenne(42).shuffle(list)
	for i, want := range []int{7, 3, 2, 8, 5, 6, 9, 4, 0, 1} {
		if list[i] != want {
			t.Fatalf("shuffle of seed 42: %v", list)
		}
	}
}
