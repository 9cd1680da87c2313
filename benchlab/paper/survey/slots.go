package survey

import "container/list"

// slots is the cache of a worker that holds so many prefixes, whatever their
// size; the one that was used longest ago makes room.
type slots struct {
	size  int
	order *list.List // keys, newest first
	at    map[uint64]*list.Element
}

func newSlots(size int) *slots { return &slots{size, list.New(), map[uint64]*list.Element{}} }

// use reports whether a prefix was there, and puts it there.
func (s *slots) use(key uint64) (hit bool) {
	if e, ok := s.at[key]; ok {
		s.order.MoveToFront(e)
		return true
	}
	s.at[key] = s.order.PushFront(key)
	if s.order.Len() > s.size {
		delete(s.at, s.order.Remove(s.order.Back()).(uint64))
	}
	return false
}
