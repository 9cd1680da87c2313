// Package rendezvous ranks workers for a key by highest random weight (Thaler
// and Ravishankar, 1998): every gateway computes the same order from nothing
// but names, a worker that leaves moves only its own keys, and one that joins
// takes an equal part from each of the others.
//
// The weight is router.Rendezvous, so that a home that a planner prefers is the
// worker that the core's rendezvous order gives to the same key without a plan.
package rendezvous

import "gatewayd/pkg/router"

// Hashes returns the hashes of workers' IDs, in their order. They depend on the
// IDs only, so that a restarted worker gets the same keys again.
func Hashes(ids []string) []uint64 {
	hashes := make([]uint64, len(ids))
	for i, id := range ids {
		hashes[i] = router.HashID(id)
	}
	return hashes
}

// First returns the index of the hash with the highest weight for key, -1 if
// there are no hashes.
func First(key uint64, hashes []uint64) int {
	first, highest := -1, uint64(0)
	for i, hash := range hashes {
		if w := router.Rendezvous(key, hash); first < 0 || w > highest {
			first, highest = i, w
		}
	}
	return first
}
