package main

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"gatewayd/benchlab/replay"
	"gatewayd/benchlab/trace"
)

// salt is that of all replays: each starts with fresh workers.
const salt = 0

// keyed renumbers the sessions of a trace so that the simulator, which mixes
// numbers, gets the affinity keys that a gateway gets, which hashes the names that
// a replay sends. Keys decide nothing by themselves but order what is equal, and
// place by rendezvous.
func keyed(t *trace.Trace) *trace.Trace {
	c := *t
	c.Requests = slices.Clone(t.Requests)
	for i := range c.Requests {
		if r := &c.Requests[i]; r.Session != 0 {
			r.Session = unmix(gatewayKey(replay.SessionName(salt, r.Session)))
		}
	}
	return &c
}

// gatewayKey is the key of a request that names its session in a header.
func gatewayKey(session string) uint64 {
	d := xxhash.NewWithSeed(xxhash.Sum64String(model + "\x00"))
	d.WriteString("x-session-id\x00" + session)
	return d.Sum64()
}

// unmix is the inverse of router.Mix.
func unmix(x uint64) uint64 {
	const step, first, second = 0x9e3779b97f4a7c15, 0x96de1b173f119089, 0x319642b2d24d8ec3
	x ^= x>>31 ^ x>>62
	x *= second
	x ^= x>>27 ^ x>>54
	x *= first
	x ^= x>>30 ^ x>>60
	return x - step
}
