package strategies

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// TestGatewaysDoNotSwarm has four gateways send 64 requests at once to three busy
// workers and an idle one, each knowing of the others what they had before: in no
// draw is the idle worker swamped.
func TestGatewaysDoNotSwarm(t *testing.T) {
	const workers, busy = 4, 16
	even := float64(64+busy*(workers-1)) / workers
	for _, name := range []string{router.BuiltIn, "p2c", "least-busy", "latency", "joule", "dynamo", "lmetric", "prefix", "weighted", "preble"} {
		for seed := range uint64(50) {
			if idle := float64(swarm(t, name, seed)); idle < 0.75*even || idle > 1.25*even {
				t.Errorf("%s, seed %d: the idle worker has %v, even would be %v", name, seed, idle, even)
			}
		}
	}
}

// TestGatewaysKeepTheBound has four gateways send 64 requests of one key at once, whose
// worker is the idle one: the guard of all of them together lets as many there as one
// gateway's would.
func TestGatewaysKeepTheBound(t *testing.T) {
	key, ids := uint64(1), []string{"w0", "w1", "w2", "w3"}
	for slices.MaxFunc(ids, func(a, b string) int {
		return cmp.Compare(router.Rendezvous(key, router.HashID(a)), router.Rendezvous(key, router.HashID(b)))
	}) != "w0" {
		key++
	}
	gateways, home := newGateways(t, "chwbl", 1), 0
	exchange(gateways, 0)
	for i := range 64 {
		s := gateways[i%len(gateways)].take(t, 0, router.Request{Key: key, PromptTokens: 160})
		if s.Worker.ID == "w0" {
			home++
		}
	}
	if most := 1.25 * 112 / 4; float64(home) > most+4 || home < 28 {
		t.Errorf("the home of the key has %d of 64 requests, want about %v", home, most)
	}
}

// TestQuietPeersDoNotSend has one of four gateways send all: it counts nothing for
// the others, which send nothing.
func TestQuietPeersDoNotSend(t *testing.T) {
	gateways, later, idle := newGateways(t, "least-busy", 1), router.Time(time.Hour), 0
	gateways[0].arrive(t, later, 0)
	exchange(gateways, later)
	for i := range 16 {
		if gateways[0].arrive(t, later, i) == "w0" {
			idle++
		}
	}
	if idle < 15 {
		t.Errorf("the idle worker has %d of 16 requests, all others have 16 each", idle)
	}
}

// swarm returns how many requests of 64 the idle worker gets.
func swarm(t *testing.T, name string, seed uint64) (idle int) {
	t.Helper()
	gateways := newGateways(t, name, seed)
	exchange(gateways, 0)
	for i := range 64 {
		if gateways[i%len(gateways)].arrive(t, 0, i) == "w0" {
			idle++
		}
	}
	return idle
}

// newGateways returns four gateways that have sent four requests each to all of
// four workers but the first.
func newGateways(t *testing.T, name string, seed uint64) (all []*pool) {
	t.Helper()
	for g := range uint64(4) {
		p := newSeededPool(t, router.Mix(4*seed+g+1), name, nil, 4, router.Worker{Carbon: router.Carbon{GramsPerKWh: router.Unknown}})
		for i := range 12 {
			s := p.take(t, 0, prompt(1000+i, 160))
			p.core.Dispatched(0, s.Ticket, fmt.Sprint("w", 1+i%3))
		}
		all = append(all, p)
	}
	return all
}

// exchange tells all gateways of each other.
func exchange(gateways []*pool, now router.Time) {
	for i, from := range gateways {
		s := from.core.Export(now, 0)()
		for j, to := range gateways {
			if i != j {
				to.core.Import(now, fmt.Sprint("g", i), s)
			}
		}
	}
}

// arrive sends a request and returns the worker that it went to.
func (p *pool) arrive(t *testing.T, now router.Time, i int) string {
	t.Helper()
	return p.take(t, now, prompt(i, 160)).Worker.ID
}
