package sim

import (
	"time"

	"gatewayd/pkg/router"
)

// table is the part of a link's plan that workers need in order to protect the
// blocks of keys that have a place with them.
type table struct {
	plan     *router.Plan
	at       map[uint64]int // key -> place in the plan's table
	machines []int32        // of the plan's workers; -1 if unknown
}

func (l *lab) newTable(p *router.Plan) table {
	t := table{plan: p, at: make(map[uint64]int, len(p.Table.Keys))}
	for i, key := range p.Table.Keys {
		t.at[key] = i
	}
	for _, w := range p.Workers {
		who, ok := l.number[w.ID]
		if !ok {
			who = -1
		}
		t.machines = append(t.machines, who)
	}
	return t
}

// has reports whether a key has a place at a machine.
func (t *table) has(key uint64, who int32) bool {
	i, ok := t.at[key]
	if !ok {
		return false
	}
	for _, m := range t.plan.Table.Of(i) {
		if t.machines[m] == who {
			return true
		}
	}
	return false
}

// protect tells the workers, if they are to know, which keys the plans in force
// have a place for with them. A plan without a table says nothing.
func (l *lab) protect(link int, p *router.Plan) {
	if !l.config.Options.Protect || len(p.Table.Keys) == 0 && l.tables[link].plan == nil {
		return
	}
	l.tables[link] = l.newTable(p)
	for who := range l.machines {
		l.machines[who].engine.Protect(time.Duration(l.now), func(key uint64) bool {
			for i := range l.tables {
				if l.tables[i].has(key, int32(who)) {
					return true
				}
			}
			return false
		})
	}
}
