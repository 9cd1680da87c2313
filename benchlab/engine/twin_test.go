package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatewayd/benchlab/trace"
)

// machine is what an engine and its plain twin have in common.
type machine interface {
	submit(now time.Duration, r Request)
	flush(now time.Duration)
	protect(now time.Duration, protected func(owner uint64) bool)
	begin(now time.Duration) (end time.Duration, busy bool)
	finish() []Event
	look(now time.Duration) Stats
}

// real is an Engine in runs as long as it likes.
type real struct {
	t *testing.T
	e *Engine
}

func (m real) submit(now time.Duration, r Request) {
	if err := m.e.Submit(now, r); err != nil {
		m.t.Fatal(err)
	}
}
func (m real) flush(now time.Duration)                                { m.e.Flush(now) }
func (m real) protect(now time.Duration, protected func(uint64) bool) { m.e.Protect(now, protected) }
func (m real) begin(now time.Duration) (time.Duration, bool)          { return m.e.Start(now, Forever) }
func (m real) finish() []Event {
	end, _ := m.e.End()
	return slices.Clone(m.e.Finish(end))
}
func (m real) look(now time.Duration) Stats {
	s := m.e.Stats(now)
	s.Busy, s.Prefill, s.Joules = 0, 0, Figure{}
	return s
}

// deed is one thing that is done to a machine at a time.
type deed struct {
	at time.Duration
	do func(machine) string
}

// live does all deeds and returns what can be seen of the machine, and when.
func live(m machine, deeds []deed) (seen []string) {
	var end time.Duration
	busy := false
	finish := func() {
		for _, v := range m.finish() {
			seen = append(seen, fmt.Sprint(end, v))
		}
		end, busy = m.begin(end)
	}
	for _, d := range deeds {
		for busy && end < d.at {
			finish()
		}
		if what := d.do(m); what != "" {
			seen = append(seen, fmt.Sprint(d.at, what))
		}
		end, busy = m.begin(d.at)
	}
	for busy {
		finish()
	}
	return append(seen, fmt.Sprint(m.look(end)))
}

func compare(t *testing.T, p Profile, deeds []deed) Stats {
	t.Helper()
	e, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	got, want := live(real{t, e}, deeds), live(newPlainEngine(p), deeds)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("line %d of %d:\n got %s\nwant %s", i, len(want), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	checkLaws(t, e)
	return e.Stats(Forever)
}

// TestTwinOnRandomTraffic has an engine and its plain twin serve conversations
// that share beginnings in part, with ids of one to five blocks, while keys gain
// and lose protection.
func TestTwinOnRandomTraffic(t *testing.T) {
	var sum Stats
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := Profile{
			Name: "twin", WeightsMS: 3.3, TokenUS: 210, DecodeMS: 0.11, DecodeSeqMS: 0.013, DecodeKctxMS: 1.7, QuadUS: 9.1,
			BlockTokens: 4, KVBlocks: 40 + r.IntN(80), MaxBatchedTokens: 24 + r.IntN(60), MaxSeqs: 2 + r.IntN(6),
			ReservePrompt: seed%3 == 0,
		}
		s := compare(t, p, randomDeeds(r, 150))
		sum.Preemptions += s.Preemptions
		sum.HitTokens += s.HitTokens
		sum.QueryTokens += s.QueryTokens
	}
	if hit := float64(sum.HitTokens) / float64(sum.QueryTokens); sum.Preemptions < 150 || hit < 0.15 || hit > 0.6 {
		t.Fatalf("the traffic tests too little: %d preemptions, hit rate %.2f", sum.Preemptions, hit)
	}
}

func randomDeeds(r *rand.Rand, requests int) (deeds []deed) {
	now := time.Duration(0)
	per := 1 + r.IntN(5)
	for id := range uint64(requests) {
		if r.IntN(3) > 0 {
			now += time.Duration(r.IntN(60_000)) * time.Microsecond
		}
		q := randomRequest(r, id, per)
		do := func(what func(m machine, now time.Duration)) {
			at := now
			deeds = append(deeds, deed{at, func(m machine) string {
				what(m, at)
				return fmt.Sprint(m.look(at))
			}})
		}
		do(func(m machine, now time.Duration) { m.submit(now, q) })
		now += time.Duration(r.IntN(40_000)) * time.Microsecond
		switch r.IntN(12) {
		case 0:
			do(func(m machine, now time.Duration) { m.flush(now) })
		case 1, 2:
			mask := r.Uint64()
			do(func(m machine, now time.Duration) {
				m.protect(now, func(owner uint64) bool { return mask>>owner&1 == 1 })
			})
		case 3:
			do(func(m machine, now time.Duration) { m.protect(now, nil) })
		}
	}
	return deeds
}

// randomRequest is a turn of one of six conversations, two of which begin alike.
func randomRequest(r *rand.Rand, id uint64, per int) Request {
	q := Request{ID: id, PromptTokens: 1 + r.IntN(120), OutputTokens: r.IntN(40), BlockTokens: 4 * per}
	family := 1 + r.Uint64N(6)
	q.Owner = family * r.Uint64N(2)
	fork := r.IntN(8)
	block := func(i int) uint64 {
		if i < 3 {
			return family%3*1000 + uint64(i)
		}
		if i >= fork {
			return family*1000 + uint64(i) + 100*uint64(fork)
		}
		return family*1000 + uint64(i)
	}
	ids := q.PromptTokens / q.BlockTokens
	for i := range min(ids+r.IntN(2), (q.PromptTokens-1)/q.BlockTokens+1) {
		q.Blocks = append(q.Blocks, block(i))
	}
	if r.IntN(2) == 0 {
		for i := range r.IntN(10) {
			q.OutputBlocks = append(q.OutputBlocks, block(ids+i))
		}
	}
	return q
}

// TestTwinOnTrace has both serve the beginning of the default trace, in ids of 32
// blocks, faster than one engine can.
func TestTwinOnTrace(t *testing.T) {
	tr, err := trace.Default()
	if err != nil {
		t.Fatal(err)
	}
	if tr, err = tr.Spread(1).Cut(120).InferSessions(0).Scale(2); err != nil {
		t.Fatal(err)
	}
	p, err := ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	p.KVBlocks = 8_000
	var deeds []deed
	for i, r := range tr.Requests {
		q := Request{
			ID: uint64(i), Owner: r.Session, PromptTokens: r.Input, OutputTokens: r.Output,
			BlockTokens: tr.BlockTokens, Blocks: r.Blocks,
		}
		deeds = append(deeds, deed{r.At, func(m machine) string {
			if i%30 == 0 {
				m.protect(r.At, func(owner uint64) bool { return owner%3 == uint64(i/30%3) })
			}
			if q.PromptTokens+q.OutputTokens <= p.KVBlocks*16 {
				m.submit(r.At, q)
			}
			return fmt.Sprint(m.look(r.At))
		}})
	}
	s := compare(t, p, deeds)
	if s.Preemptions < 10 || s.HitTokens < 10_000 {
		t.Fatalf("the traffic tests too little: %d preemptions, %d hit tokens", s.Preemptions, s.HitTokens)
	}
}
