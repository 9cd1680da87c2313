package router

import "cmp"

// wake wakes what can go, and knows who has to be the next.
func (x *lifetimes) wake() {
	for x.core.Waiting() > 0 {
		next := x.next()
		s, ok := x.core.Wake(x.now)
		if !ok {
			if next != nil {
				x.t.Fatalf("law 12: request %s can go and is not woken", next.ID)
			}
			return
		}
		r := x.byID[s.Ticket.ID]
		if early := r.notUntil > x.now && r.eager; r != next && (!early || next != nil && inOrder(next, r) < 0) {
			x.t.Fatalf("law 11: request %s is woken out of order", r.ID)
		}
		r.notUntil = Never
		x.take(r, s)
	}
}

// next returns the first waiting request that can go, nil if there is none.
func (x *lifetimes) next() *request {
	var first *request
	for _, r := range x.open {
		if r.step.Kind == DoWait && r.notUntil <= x.now && (first == nil || inOrder(r, first) < 0) && x.canGo(r) {
			first = r
		}
	}
	return first
}

func inOrder(a, b *request) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.number, b.number))
}
