package preble

import (
	"container/list"
	"slices"
)

// maxKeys bounds the keys that are remembered of a worker.
const maxKeys = 1 << 14

// cache is what a worker is believed to hold: the prompts of keys, those used
// longest ago at the back. The zero value is empty.
type cache struct {
	order  list.List // of *held
	keys   map[uint64]*list.Element
	tokens int
	past   int64 // the part of the window that is over
}

// held is the last prompt of a key.
type held struct {
	key    uint64
	tokens int
	visits []visits
}

// visits are those of one part of the window.
type visits struct {
	part int64
	n    int
}

// touch notes a visit. A key of 0 is nobody's, and never comes back.
func (c *cache) touch(key uint64, tokens int, part int64) {
	if key == 0 {
		return
	}
	if c.keys == nil {
		c.keys = map[uint64]*list.Element{}
	}
	e := c.keys[key]
	if e == nil {
		if len(c.keys) >= maxKeys {
			c.drop(c.order.Back())
		}
		e = c.order.PushFront(&held{key: key})
		c.keys[key] = e
	}
	c.order.MoveToFront(e)
	h := e.Value.(*held)
	c.tokens += tokens - h.tokens
	h.tokens = tokens
	if n := len(h.visits); n > 0 && h.visits[n-1].part == part {
		h.visits[n-1].n++
		return
	}
	h.visits = append(slices.DeleteFunc(h.visits, func(v visits) bool { return v.part <= c.past }), visits{part, 1})
}

// expire forgets keys without a visit after a part of the window.
func (c *cache) expire(part int64) {
	c.past = part
	for e := c.order.Back(); e != nil; e = c.order.Back() {
		h := e.Value.(*held)
		if last := h.visits[len(h.visits)-1]; last.part > part {
			return
		}
		c.drop(e)
	}
}

func (c *cache) drop(e *list.Element) {
	h := c.order.Remove(e).(*held)
	c.tokens -= h.tokens
	delete(c.keys, h.key)
}

// evicted is the prompt tokens, times the visits, of the keys that have to go for
// need more tokens to fit, those used longest ago first; the key itself stays.
func (c *cache) evicted(need, capacity int, key uint64) float64 {
	cost, over := 0.0, c.tokens+need-capacity
	for e := c.order.Back(); e != nil && over > 0; e = e.Prev() {
		h := e.Value.(*held)
		if h.key == key {
			continue
		}
		over -= h.tokens
		cost += float64(h.tokens) * c.recent(h)
	}
	return cost
}

// recent is the number of a key's visits in the window.
func (c *cache) recent(h *held) float64 {
	n := 0
	for _, v := range h.visits {
		if v.part > c.past {
			n += v.n
		}
	}
	return float64(n)
}
