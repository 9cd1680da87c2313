package plugin

import (
	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// minTable is how many workers a lane's table may hold before the ones that
// were not seen lately are thrown out.
const minTable = 1024

// table is the host's copy of what a lane's plugin knows of the workers, by
// slot. It finds out what a route must say about its workers: the ones that the
// plugin does not know, loads that changed, and which are eligible.
type table struct {
	workers []router.Worker
	slots   map[string]uint32
	writes  uint64 // to the plugin's table
}

// prepare completes task for the route's workers and returns a write to the
// table that must precede it, or nil.
func (t *table) prepare(in *router.Input, task *wire.RouteTask) *wire.TableWrite {
	var write *wire.TableWrite
	if len(t.workers) > max(minTable, 2*len(in.Workers)) {
		*t = table{writes: t.writes}
		write = &wire.TableWrite{Clear: true}
	}
	if t.slots == nil {
		t.slots = map[string]uint32{}
	}
	eligible, inOrder := make([]uint32, len(in.Workers)), true
	for i := range in.Workers {
		w := &in.Workers[i]
		slot, known := t.slot(uint32(i), w.ID)
		if !known {
			t.slots[w.ID] = slot
			t.workers = append(t.workers, router.Worker{})
		}
		if old := &t.workers[slot]; !known || !sameWorker(old, w) {
			*old = *w
			if write == nil {
				write = &wire.TableWrite{}
			}
			write.Slots = append(write.Slots, &wire.Slot{Slot: slot, Worker: wire.EncodeWorker(w)})
		} else if !sameLoad(&old.Load, &w.Load) {
			task.Loads = append(task.Loads, loadChange(slot, &old.Load, &w.Load))
			old.Load = w.Load
		}
		eligible[i] = slot
		inOrder = inOrder && slot == uint32(i)
	}
	if !inOrder || len(eligible) != len(t.workers) {
		task.Eligible = eligible
	}
	task.PeersAge = peersAges(in.Workers)
	if write != nil {
		t.writes++
		write.Number = t.writes
	}
	return write
}

// sameWorker reports whether a and b are alike but for their loads. Comparing
// the values themselves would cost a route most of its time.
func sameWorker(a, b *router.Worker) bool {
	return a.ID == b.ID && a.Incarnation == b.Incarnation && a.Zone == b.Zone &&
		a.Concurrency == b.Concurrency && a.KVTokens == b.KVTokens &&
		a.Energy == b.Energy && a.Carbon == b.Carbon
}

// sameLoad reports whether a and b are alike but for their peers' ages, which
// travel apart.
func sameLoad(a, b *router.Load) bool {
	return a.InFlight == b.InFlight && a.QueuedTokens == b.QueuedTokens && a.WorkingSet == b.WorkingSet && sameGauges(a, b)
}

func sameGauges(a, b *router.Load) bool {
	return a.Running == b.Running && a.Waiting == b.Waiting && a.KVUsed == b.KVUsed && a.TTFT == b.TTFT && a.Latency == b.Latency
}

// slot returns the worker's slot, or the next free one. The guess is right
// while all workers are eligible.
func (t *table) slot(guess uint32, id string) (slot uint32, known bool) {
	if int(guess) < len(t.workers) && t.workers[guess].ID == id {
		return guess, true
	}
	if slot, known = t.slots[id]; known {
		return slot, true
	}
	return uint32(len(t.workers)), false
}

func loadChange(slot uint32, old, load *router.Load) *wire.LoadChange {
	c := &wire.LoadChange{
		Slot:         slot,
		InFlight:     int64(load.InFlight),
		QueuedTokens: int64(load.QueuedTokens),
		WorkingSet:   int64(load.WorkingSet),
	}
	if !sameGauges(old, load) {
		c.Gauges = wire.EncodeGauges(load)
	}
	return c
}

// peersAges packs the ages of the peers' figures: nothing if all are zero, one
// if all are the same.
func peersAges(workers []router.Worker) []int64 {
	if len(workers) == 0 {
		return nil
	}
	first, same := workers[0].Load.PeersAge, true
	for i := range workers {
		same = same && workers[i].Load.PeersAge == first
	}
	if same {
		if first == 0 {
			return nil
		}
		return []int64{int64(first)}
	}
	ages := make([]int64, len(workers))
	for i := range workers {
		ages[i] = int64(workers[i].Load.PeersAge)
	}
	return ages
}
