// Package lpt schedules jobs in list order on the least loaded of n workers.
//
// Given jobs by decreasing size it is the longest-processing-time rule of
// Graham (1969), extended to jobs that are split into equal shares which must
// land on distinct workers, as Algorithm 1 of CacheRoute needs it (Graham's
// bound does not hold for split jobs). A typed binary heap of plain values
// keeps it free of allocation and of interface calls.
package lpt

import "slices"

// Heap holds workers 0..n-1 by load, the least loaded first and the lower
// number first among equals. It is not safe for concurrent use.
type Heap struct {
	nodes []node
	taken []node
}

type node struct {
	load   float64
	worker uint16
}

func (a node) before(b node) bool {
	return a.load < b.load || a.load == b.load && a.worker < b.worker
}

// New returns a heap of the workers whose initial loads are given, at most
// 65,536 of them, none NaN. It does not keep the slice.
func New(load []float64) *Heap {
	h := &Heap{nodes: make([]node, len(load))}
	for w, l := range load {
		h.nodes[w] = node{load: l, worker: uint16(w)}
	}
	for i := len(h.nodes)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h
}

// Place adds share to each of the k least loaded workers (all of them if there
// are fewer than k) and appends their numbers to dst in ascending order.
func (h *Heap) Place(dst []uint16, k int, share float64) []uint16 {
	if k <= 0 || len(h.nodes) == 0 {
		return dst
	}
	if k == 1 {
		dst = append(dst, h.nodes[0].worker)
		h.nodes[0].load += share
		h.down(0)
		return dst
	}
	first := len(dst)
	h.taken = h.taken[:0]
	for range min(k, len(h.nodes)) {
		n := h.pop()
		n.load += share
		h.taken = append(h.taken, n)
		dst = append(dst, n.worker)
	}
	for _, n := range h.taken {
		h.push(n)
	}
	slices.Sort(dst[first:])
	return dst
}

// Loads returns the load of each worker, by number.
func (h *Heap) Loads() []float64 {
	load := make([]float64, len(h.nodes))
	for _, n := range h.nodes {
		load[n.worker] = n.load
	}
	return load
}

func (h *Heap) pop() node {
	top, last := h.nodes[0], len(h.nodes)-1
	h.nodes[0] = h.nodes[last]
	h.nodes = h.nodes[:last]
	h.down(0)
	return top
}

func (h *Heap) push(n node) {
	h.nodes = append(h.nodes, n)
	for i := len(h.nodes) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.nodes[i].before(h.nodes[parent]) {
			return
		}
		h.nodes[i], h.nodes[parent] = h.nodes[parent], h.nodes[i]
		i = parent
	}
}

func (h *Heap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.nodes) {
			return
		}
		if right := child + 1; right < len(h.nodes) && h.nodes[right].before(h.nodes[child]) {
			child = right
		}
		if !h.nodes[child].before(h.nodes[i]) {
			return
		}
		h.nodes[i], h.nodes[child] = h.nodes[child], h.nodes[i]
		i = child
	}
}
