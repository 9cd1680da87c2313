package router

// Compiled is a valid plan in the form the core executes. It is immutable; make
// it outside of the core's lock, since a large table takes time.
type Compiled struct {
	plan            *Plan
	table           table
	needsWorkingSet bool
}

// Compile validates a plan and builds its look-up table. The plan must not be
// changed afterwards. If a key is listed twice, the last entry counts.
func Compile(p *Plan) (*Compiled, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	c := &Compiled{plan: p, table: newTable(&p.Table)}
	for _, row := range []Row{p.Rest.Cost, p.Rest.Limit} {
		for _, t := range row {
			c.needsWorkingSet = c.needsWorkingSet || t.Feature == WorkingSet || t.Feature == Missed
		}
	}
	return c, nil
}

// Plan returns the plan that was compiled; it must not be changed.
func (c *Compiled) Plan() *Plan { return c.plan }

// members returns the plan indexes of the key's workers, nil if it has none.
func (c *Compiled) members(key uint64) []uint16 { return c.table.members(key) }
