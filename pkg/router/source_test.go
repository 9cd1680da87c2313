package router

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"
)

// source turns bytes into plans and requests; it yields zeros when it runs out.
// A wild one also yields figures that no one should send.
type source struct {
	data []byte
	wild bool
}

func randomSource(rng *rand.Rand) *source {
	s := &source{data: make([]byte, 128)}
	for i := 0; i < len(s.data); i += 8 {
		binary.LittleEndian.PutUint64(s.data[i:], rng.Uint64())
	}
	return s
}

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *source) n(limit int) int { return int(s.byte()) % limit }

func (s *source) flag() bool { return s.byte()%2 == 1 }

// float is a sensible figure; a wild one is any float64 now and then.
func (s *source) float() float64 {
	b := s.byte()
	if s.wild && b >= 240 {
		var bits [8]byte
		for i := range bits {
			bits[i] = s.byte()
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(bits[:]))
	}
	return float64(b) / 16
}

// count is 0..limit-1; a wild one is any int now and then.
func (s *source) count(limit int) int {
	b := s.byte()
	if s.wild && b >= 240 {
		return [...]int{-1, math.MaxInt, math.MinInt, 1 << 40}[b%4]
	}
	return int(b) % limit
}

func (s *source) guard() Guard {
	if s.n(3) == 0 {
		return Guard{}
	}
	g := Guard{Of: InFlight, Factor: 1 + s.float(), Slack: s.float()}
	if s.flag() {
		g.Of = QueuedTokens
	}
	if s.wild {
		g.Of, g.Factor, g.Slack = Feature(s.byte()), s.float(), s.float()
	}
	return g
}

func (s *source) row(workers int) Row {
	var row Row
	for range s.n(4) {
		t := Term{Feature: Feature(s.n(int(numFeatures)))}
		n := 1
		if s.flag() {
			n = workers
		}
		if s.wild {
			t.Feature, n = Feature(s.byte()), n+s.n(2)
		}
		for range n {
			t.Weights = append(t.Weights, s.float()-4)
		}
		row = append(row, t)
	}
	return row
}

// members lists some of the workers, each at most once unless it is wild.
func (s *source) members(workers int) []uint16 {
	var out []uint16
	for i := range uint16(workers) {
		if s.flag() {
			out = append(out, i)
		}
	}
	if s.wild && s.flag() {
		out = append(out, uint16(s.byte()))
	}
	return out
}

func (s *source) rest(workers int) Rest {
	return Rest{
		Order: Order(s.n(int(ByRotation) + 1)), Among: s.members(workers), Sample: s.n(4),
		Cost: s.row(workers), Limit: s.row(workers), Bound: s.float(), FirstTie: s.flag(),
	}
}

// plan makes one for the workers, with a table of some of the keys below limit.
func (s *source) plan(workers []WorkerRef, keys int) *Plan {
	p := &Plan{Workers: workers, Guard: s.guard(), Rest: s.rest(len(workers))}
	for range s.n(12) {
		if members := s.members(len(workers)); len(members) > 0 {
			p.Table.Append(uint64(s.n(keys)), members...)
		}
	}
	if s.flag() {
		p.Bind = Bind{TTL: time.Duration(s.byte()) * time.Second, Keep: s.flag(), MinCached: float64(s.n(3)) / 2}
	}
	if s.wild {
		p.Bind.TTL *= time.Duration(s.count(1000))
		p.Bind.MinCached = s.float()
		if s.flag() && len(p.Table.Offsets) > 0 {
			p.Table.Offsets[s.n(len(p.Table.Offsets))] = uint32(s.byte())
		}
	}
	return p
}

// request makes one of a few keys, prompts and adapters.
func (s *source) request(keys int) Request {
	r := Request{
		Key: uint64(s.n(keys)), PromptTokens: 8 * s.count(256), MaxTokens: s.count(100),
		Priority: s.n(3), BlockTokens: s.count(129),
	}
	for i := range uint64(s.n(16)) {
		chain := r.Key
		if i < 2 {
			chain %= 3 // a start that many have in common
		}
		r.Blocks = append(r.Blocks, Mix(chain<<8|i))
	}
	if s.n(8) == 0 {
		r.Adapter = "a"
	}
	return r
}
