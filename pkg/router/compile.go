package router

// Compiled is a valid plan in the form the core executes. It is immutable; make
// it outside of the core's lock, since a large table takes time.
type Compiled struct {
	plan  *Plan
	slots []slot // open addressing, power-of-two size, linear probing
	mask  uint64
	// means are the mean weights of Cost's and Limit's terms, for workers that
	// joined after the plan was made.
	costMean, limitMean []float64
	needsWorkingSet     bool
}

// slot is a row of the look-up table: a key's members in Table.Members.
type slot struct {
	key        uint64
	first, end uint32 // end == 0: free
}

// Compile validates a plan and builds its look-up table. The plan must not be
// changed afterwards. If a key is listed twice, the last entry counts.
func Compile(p *Plan) (*Compiled, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	c := &Compiled{plan: p, costMean: rowMeans(p.Rest.Cost), limitMean: rowMeans(p.Rest.Limit)}
	for _, row := range []Row{p.Rest.Cost, p.Rest.Limit} {
		for _, t := range row {
			c.needsWorkingSet = c.needsWorkingSet || t.Feature == WorkingSet
		}
	}
	if n := len(p.Table.Keys); n > 0 {
		size := 4
		for size*2 < n*3 { // load factor <= 2/3
			size *= 2
		}
		c.slots, c.mask = make([]slot, size), uint64(size-1)
		for i, key := range p.Table.Keys {
			*c.find(key) = slot{key, p.Table.Offsets[i], p.Table.Offsets[i+1]}
		}
	}
	return c, nil
}

// Plan returns the plan that was compiled; it must not be changed.
func (c *Compiled) Plan() *Plan { return c.plan }

func rowMeans(row Row) []float64 {
	means := make([]float64, len(row))
	for i, t := range row {
		for _, w := range t.Weights {
			means[i] += w / float64(len(t.Weights))
		}
	}
	return means
}

func (c *Compiled) find(key uint64) *slot {
	i := Mix(key) & c.mask
	for c.slots[i].end != 0 && c.slots[i].key != key {
		i = (i + 1) & c.mask
	}
	return &c.slots[i]
}

// members returns the plan indexes of the key's workers, nil if it has none.
func (c *Compiled) members(key uint64) []uint16 {
	if c.slots == nil {
		return nil
	}
	s := c.find(key)
	if s.end == 0 {
		return nil
	}
	return c.plan.Table.Members[s.first:s.end]
}
