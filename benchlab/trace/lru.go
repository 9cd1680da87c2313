package trace

// LRUHit is the share of block references that one cache of capacity blocks
// serves, which evicts the block that was not used for longest: requests in
// arrival order, each hits its leading blocks that the cache holds, and then its
// blocks are touched from last to first, so tails go before heads. Blocks are
// those of the trace.
func (t *Trace) LRUHit(capacities ...int) []float64 {
	dense, n := t.dense()
	out := make([]float64, len(capacities))
	for i, c := range capacities {
		out[i] = lruHit(dense, n, max(c, 0))
	}
	return out
}

// dense numbers the trace's ids from 0 to n-1.
func (t *Trace) dense() (rows [][]int32, n int) {
	numbers := map[uint64]int32{}
	made := map[*uint64][]int32{}
	for _, a := range arrays(t.Requests) {
		r := &t.Requests[a]
		salt := t.Scope.salt(r.Session)
		list := make([]int32, len(r.Blocks))
		for k, id := range r.Blocks {
			id = mix(id^salt, 0)
			i, ok := numbers[id]
			if !ok {
				i = int32(len(numbers))
				numbers[id] = i
			}
			list[k] = i
		}
		made[&r.Blocks[0]] = list
	}
	rows = make([][]int32, len(t.Requests))
	for i := range t.Requests {
		if b := t.Requests[i].Blocks; len(b) > 0 {
			rows[i] = made[&b[0]][:len(b)]
		}
	}
	return rows, len(numbers)
}

// lruHit keeps the cached ids in a ring through next and prev, whose head is n:
// next of the head was used last.
func lruHit(rows [][]int32, n, capacity int) float64 {
	next, prev, cached := make([]int32, n+1), make([]int32, n+1), make([]bool, n)
	head := int32(n)
	next[head], prev[head] = head, head
	hits, refs, size := 0, 0, 0
	for _, row := range rows {
		refs += len(row)
		for _, id := range row {
			if !cached[id] {
				break
			}
			hits++
		}
		for k := len(row) - 1; k >= 0; k-- {
			id := row[k]
			if cached[id] {
				next[prev[id]], prev[next[id]] = next[id], prev[id]
			} else {
				cached[id] = true
				size++
			}
			next[id], prev[id] = next[head], head
			prev[next[id]], next[head] = id, id
			if size > capacity {
				old := prev[head]
				next[prev[old]], prev[head] = head, prev[old]
				cached[old] = false
				size--
			}
		}
	}
	return ratio(hits, refs)
}
