package router

// prefixes are the blocks that one worker is believed to have in its prefix
// cache, in the order of their last use: of one prompt the first block most of
// all, so that tails are dropped before heads. Blocks in a row with one fate are a
// run: the cost of a prompt depends on how many runs it is made of, little on its
// length. A run is cut where prompts part.
//
// It relies on what chained hashes promise: where a prompt has a block of another,
// it has all that come before it. With other ids figures may be too low or too
// high, and every bound holds.
type prefixes struct {
	limit int // blocks
	count int
	ids   []uint64    // of the runs, in order of place, with gaps
	runs  []prefixRun // runs[0] heads both rings
	free  int32       // first of the runs out of use, linked by older; 0: none
	heads prefixTable
}

type prefixRun struct {
	begin, blocks int32 // in ids
	newer, older  int32 // by use, a ring
	before, after int32 // by place, a ring
}

func newPrefixes(limit int, seed uint64) *prefixes {
	return &prefixes{limit: max(limit, 1), runs: make([]prefixRun, 1), heads: newPrefixTable(seed)}
}

// resize sets the bound, dropping the oldest blocks beyond it, and returns how many.
func (s *prefixes) resize(limit int) (dropped int) {
	s.limit = max(limit, 1)
	return s.makeRoom(0)
}

// match returns how many leading blocks are there.
func (s *prefixes) match(blocks []uint64) (n int) {
	for n < len(blocks) {
		r := s.find(blocks[n])
		if r == 0 {
			break
		}
		shared := s.shared(r, blocks[n:])
		if n += shared; shared < int(s.runs[r].blocks) {
			break
		}
	}
	return n
}

// use makes blocks the newest and drops the oldest of all to make room for new
// ones. Of more than fit it takes the first. It returns how many were dropped.
func (s *prefixes) use(blocks []uint64) (dropped int) {
	blocks = blocks[:min(len(blocks), s.limit)]
	last, whole := int32(0), true // the run that came last, and whether it was not cut
	for len(blocks) > 0 && whole {
		r := s.find(blocks[0])
		if r == 0 || r == last {
			break
		}
		n := s.shared(r, blocks)
		if whole = n == int(s.runs[r].blocks); !whole {
			s.cut(r, int32(n))
		}
		if s.runs[r].newer != last {
			s.unlink(r)
			s.link(r, last)
		}
		last, blocks = r, blocks[n:]
	}
	if len(blocks) > 0 {
		dropped = s.makeRoom(len(blocks))
		begin := len(s.ids)
		s.ids = append(s.ids, blocks...)
		s.add(prefixRun{begin: int32(begin), blocks: int32(len(blocks)), newer: last, before: s.runs[0].before})
		s.count += len(blocks)
	}
	return dropped
}

// find returns the run that begins with a block, 0 if none does.
func (s *prefixes) find(id uint64) int32 {
	hash := s.heads.hash(id)
	for i := hash >> s.heads.shift; ; i++ {
		p := s.heads.places[i&s.heads.mask()]
		if p.run == 0 || p.hash == hash && s.ids[s.runs[p.run].begin] == id {
			return p.run
		}
	}
}

// shared returns how many blocks a run shares with blocks, which have its first.
func (s *prefixes) shared(r int32, blocks []uint64) int {
	x := &s.runs[r]
	ids := s.ids[x.begin : x.begin+x.blocks]
	low, high := 1, min(len(ids), len(blocks))
	for middle := high; low < high; middle = (low + high + 1) / 2 {
		if ids[middle-1] == blocks[middle-1] {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// add makes x a run behind the runs that it names as newer and before.
func (s *prefixes) add(x prefixRun) {
	r := s.free
	if r != 0 {
		s.free = s.runs[r].older
	} else {
		r = int32(len(s.runs))
		s.runs = append(s.runs, prefixRun{})
	}
	x.after = s.runs[x.before].after
	s.runs[r] = x
	s.runs[x.before].after, s.runs[x.after].before = r, r
	s.link(r, x.newer)
	s.heads.add(s.ids[x.begin], r)
}

// cut makes a run end after its first blocks; the rest stands behind it.
func (s *prefixes) cut(r, blocks int32) {
	x := &s.runs[r]
	rest := prefixRun{begin: x.begin + blocks, blocks: x.blocks - blocks, newer: r, before: r}
	x.blocks = blocks
	s.add(rest)
}

// makeRoom drops the oldest blocks until so many more fit, and finds their ids a
// place. It returns how many it dropped.
func (s *prefixes) makeRoom(blocks int) (dropped int) {
	for s.count > 0 && s.count+blocks > s.limit {
		r := s.runs[0].newer
		x := &s.runs[r]
		gone := min(s.count+blocks-s.limit, int(x.blocks))
		s.count -= gone
		dropped += gone
		if x.blocks -= int32(gone); x.blocks > 0 {
			break
		}
		s.heads.remove(s.ids[x.begin], r)
		s.unlink(r)
		s.runs[x.before].after, s.runs[x.after].before = x.after, x.before
		x.older, s.free = s.free, r
	}
	if len(s.ids)+blocks > cap(s.ids) {
		s.compact(s.count + blocks)
	}
	return dropped
}

// compact closes the gaps between ids. It makes room for half as many again as are
// needed, so that it comes seldom.
func (s *prefixes) compact(needed int) {
	to := s.ids[:0]
	if room := needed + needed/2; room > cap(to) {
		to = make([]uint64, 0, max(room, min(2*cap(to), s.limit+s.limit/2)))
	}
	for r := s.runs[0].after; r != 0; r = s.runs[r].after {
		x := &s.runs[r]
		begin := len(to)
		to = append(to, s.ids[x.begin:x.begin+x.blocks]...)
		x.begin = int32(begin)
	}
	s.ids = to
}

// link puts a run behind another in the order of use, or first of all.
func (s *prefixes) link(r, newer int32) {
	older := s.runs[newer].older
	s.runs[r].newer, s.runs[r].older = newer, older
	s.runs[newer].older, s.runs[older].newer = r, r
}

func (s *prefixes) unlink(r int32) {
	x := &s.runs[r]
	s.runs[x.newer].older, s.runs[x.older].newer = x.older, x.newer
}
