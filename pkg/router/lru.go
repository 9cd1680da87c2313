package router

// lru is a bounded map that drops the entry used longest ago. Its entries live
// in one slice, so a full one allocates nothing.
type lru[K comparable, V any] struct {
	limit int
	at    map[K]int32
	nodes []lruNode[K, V] // nodes[0] is the ring's head: next is newest, prev oldest
	free  []int32
}

type lruNode[K comparable, V any] struct {
	prev, next int32
	key        K
	value      V
}

func newLRU[K comparable, V any](limit int) *lru[K, V] {
	return &lru[K, V]{limit: max(limit, 1), at: map[K]int32{}, nodes: make([]lruNode[K, V], 1)}
}

func (l *lru[K, V]) len() int { return len(l.at) }

// resize sets the bound, dropping the oldest entries beyond it.
func (l *lru[K, V]) resize(limit int) {
	for l.limit = max(limit, 1); len(l.at) > l.limit; {
		l.removeOldest()
	}
}

// get returns the value of key for reading and changing in place, without
// touching its age; nil if absent. It is valid until the next put.
func (l *lru[K, V]) get(key K) *V {
	if i, ok := l.at[key]; ok {
		return &l.nodes[i].value
	}
	return nil
}

// put returns the value of key, newest now; made zero if it was absent.
// evicted is the value that made room, if any.
func (l *lru[K, V]) put(key K) (value *V, evicted V, wasEvicted bool) {
	if i, ok := l.at[key]; ok {
		l.unlink(i)
		l.linkNewest(i)
		return &l.nodes[i].value, evicted, false
	}
	if len(l.at) >= l.limit {
		_, evicted, wasEvicted = l.removeOldest()
	}
	var i int32
	if n := len(l.free); n > 0 {
		i, l.free = l.free[n-1], l.free[:n-1]
	} else {
		l.nodes = append(l.nodes, lruNode[K, V]{})
		i = int32(len(l.nodes) - 1)
	}
	l.nodes[i] = lruNode[K, V]{key: key}
	l.at[key] = i
	l.linkNewest(i)
	return &l.nodes[i].value, evicted, wasEvicted
}

// oldest returns the entry used longest ago; nil if there is none.
func (l *lru[K, V]) oldest() (key K, value *V) {
	i := l.nodes[0].prev
	if i == 0 {
		return key, nil
	}
	return l.nodes[i].key, &l.nodes[i].value
}

func (l *lru[K, V]) removeOldest() (key K, value V, ok bool) {
	i := l.nodes[0].prev
	if i == 0 {
		return key, value, false
	}
	key, value = l.nodes[i].key, l.nodes[i].value
	l.remove(key)
	return key, value, true
}

func (l *lru[K, V]) remove(key K) {
	i, ok := l.at[key]
	if !ok {
		return
	}
	l.unlink(i)
	delete(l.at, key)
	l.nodes[i] = lruNode[K, V]{}
	l.free = append(l.free, i)
}

func (l *lru[K, V]) unlink(i int32) {
	n := &l.nodes[i]
	l.nodes[n.prev].next, l.nodes[n.next].prev = n.next, n.prev
}

func (l *lru[K, V]) linkNewest(i int32) {
	head := &l.nodes[0]
	l.nodes[i].prev, l.nodes[i].next = 0, head.next
	l.nodes[head.next].prev = i
	l.nodes[0].next = i
}
