package memory

import (
	"container/heap"
	"time"
)

// overhead is what an entry costs beside its value, in bytes.
const overhead = 128

// table keeps entries for their time to live, within a bound on their size.
type table[K comparable, V any] struct {
	limit, size int
	entries     map[K]*entry[K, V]
	order       queue[K, V]
}

type entry[K comparable, V any] struct {
	key     K
	value   V
	size    int
	expires time.Time
	index   int // in the queue
}

func newTable[K comparable, V any](limit int) *table[K, V] {
	return &table[K, V]{limit: limit, entries: map[K]*entry[K, V]{}}
}

// get returns the live value of a key.
func (t *table[K, V]) get(now time.Time, key K) (V, bool) {
	t.sweep(now)
	if e, ok := t.entries[key]; ok {
		return e.value, true
	}
	var none V
	return none, false
}

// put sets a key's value, then drops what expires first until the rest fits.
func (t *table[K, V]) put(now time.Time, key K, value V, size int, ttl time.Duration) {
	t.sweep(now)
	t.remove(key)
	e := &entry[K, V]{key: key, value: value, size: size + overhead, expires: now.Add(ttl)}
	t.entries[key] = e
	t.size += e.size
	heap.Push(&t.order, e)
	for t.size > t.limit {
		t.remove(t.order[0].key)
	}
}

func (t *table[K, V]) remove(key K) {
	e, ok := t.entries[key]
	if !ok {
		return
	}
	heap.Remove(&t.order, e.index)
	delete(t.entries, key)
	t.size -= e.size
}

// sweep drops what has expired.
func (t *table[K, V]) sweep(now time.Time) {
	for len(t.order) > 0 && !t.order[0].expires.After(now) {
		t.remove(t.order[0].key)
	}
}

// queue is a heap of entries, the first to expire in front.
type queue[K comparable, V any] []*entry[K, V]

func (q queue[K, V]) Len() int           { return len(q) }
func (q queue[K, V]) Less(i, j int) bool { return q[i].expires.Before(q[j].expires) }
func (q queue[K, V]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *queue[K, V]) Push(x any) {
	e := x.(*entry[K, V])
	e.index = len(*q)
	*q = append(*q, e)
}

func (q *queue[K, V]) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
