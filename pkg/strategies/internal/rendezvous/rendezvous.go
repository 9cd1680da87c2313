// Package rendezvous ranks workers for a key by names alone: every gateway
// computes the same order, a worker that leaves moves only its own keys, and one
// that joins takes an equal part from each of the others.
//
// In fleets of up to Few workers the order is that of highest random weight
// (Thaler and Ravishankar, 1998), whose cost grows with the fleet. The weight is
// router.Rendezvous, so that a home that a planner prefers is the worker that the
// core's rendezvous order gives to the same key without a plan. Larger fleets are
// ranked by multi-probe consistent hashing (Appleton and O'Reilly, 2015), whose
// cost does not grow: a key looks from several points of a ring of workers and
// prefers the one that is nearest. It has the same properties, but that a worker
// may get an eighth more keys than the mean.
package rendezvous

import "gatewayd/pkg/router"

// Few is the number of workers up to which the order is the core's.
const Few = 64

// Order ranks the workers of one fleet. It is immutable.
type Order struct {
	hashes []uint64
	ring   *ring // nil for few workers
}

// New returns the order of the workers with the given IDs, which are numbered
// from 0. It depends on the IDs only, so that a restarted worker gets the same
// keys again.
func New(ids []string) *Order {
	o := &Order{hashes: Hashes(ids)}
	if len(ids) > Few {
		o.ring = newRing(o.hashes)
	}
	return o
}

// First returns the number of the worker that the key prefers, -1 if there is
// none.
func (o *Order) First(key uint64) int {
	if o.ring != nil {
		return o.ring.first(key)
	}
	return First(key, o.hashes)
}

// FirstOf returns the number of the first worker in the key's order that may
// take it, -1 if none may, or, in a large fleet, none of the few that the key
// sees.
func (o *Order) FirstOf(key uint64, may func(w int) bool) int {
	if o.ring != nil {
		return o.ring.firstOf(key, may)
	}
	first, highest := -1, uint64(0)
	for w, hash := range o.hashes {
		if weight := router.Rendezvous(key, hash); (first < 0 || weight > highest) && may(w) {
			first, highest = w, weight
		}
	}
	return first
}

// Hashes returns the hashes of workers' IDs, in their order.
func Hashes(ids []string) []uint64 {
	hashes := make([]uint64, len(ids))
	for i, id := range ids {
		hashes[i] = router.HashID(id)
	}
	return hashes
}

// First returns the index of the hash with the highest weight for key, the lower
// one of equals, -1 if there are no hashes.
func First(key uint64, hashes []uint64) int {
	if len(hashes) == 0 {
		return -1
	}
	first, highest := 0, router.Rendezvous(key, hashes[0])
	for i, hash := range hashes {
		if weight := router.Rendezvous(key, hash); weight > highest {
			first, highest = i, weight
		}
	}
	return first
}
