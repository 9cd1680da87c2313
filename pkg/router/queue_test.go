package router

import (
	"cmp"
	"testing"
	"time"
)

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
		if s.Kind == DoRefuse && s.Refusal.Code == QueueFull {
			x.displaced(r)
			r.notUntil = x.now // a place that became free just now is for the first, not for it
			x.take(r, s)
			continue
		}
		if early := r.notUntil > x.now && r.eager; r != next && (!early || next != nil && inOrder(next, r) < 0) {
			x.t.Fatalf("law 11: request %s is woken out of order", r.ID)
		}
		r.notUntil = Never
		x.take(r, s)
	}
}

// displaced holds the core to whom it refuses for a request of higher priority.
func (x *lifetimes) displaced(r *request) {
	if x.core.Waiting() != testQueue {
		x.t.Fatalf("law 12: request %s is refused for want of a place while %d wait", r.ID, x.core.Waiting())
	}
	for _, other := range x.open {
		if other != r && other.step.Kind == DoWait && inOrder(other, r) > 0 {
			x.t.Fatalf("law 11: request %s had to leave the queue before %s", r.ID, other.ID)
		}
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

// TestRetryAfter: who is refused is told how long the queue takes, as far as the
// workers' latencies tell.
func TestRetryAfter(t *testing.T) {
	c, err := New(Config{Pool: "p", MaxQueue: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetFleet(0, []Member{{Worker: Worker{ID: "w", Concurrency: 2}}}); err != nil {
		t.Fatal(err)
	}
	refused := func(now Time) time.Duration {
		for range 10 {
			if s := c.Arrive(now, Request{}); s.Kind == DoRefuse {
				return s.Refusal.RetryAfter
			}
		}
		t.Fatal("nobody is refused")
		return 0
	}
	first, second := c.Arrive(0, Request{}), c.Arrive(0, Request{})
	if after := refused(0); after != 0 {
		t.Errorf("with nothing known: %v", after)
	}
	now := Time(8 * time.Second)
	for _, s := range []Step{first, second} {
		c.Finish(now, s.Ticket, Ending{Outcome: Completed})
		if _, ok := c.Wake(now); !ok {
			t.Fatal("nobody goes")
		}
	}
	// Two of 8 s each are in flight, so one ends every 4 s; three wait.
	if after := refused(now); after != 16*time.Second {
		t.Errorf("with a latency of 8 s: %v, want 16s", after)
	}
	c.cfg.MaxWait = 7 * time.Second // too short for the second of the queue
	for len(c.queue) > 1 {
		c.Finish(now, c.queue[1].ticket, Ending{Outcome: Cancelled})
	}
	if s := c.Arrive(now, Request{}); s.Kind != DoRefuse || s.Refusal.Code != QueueFull || s.Refusal.RetryAfter != 8*time.Second {
		t.Errorf("a wait that is expected to be too long: %+v", s)
	}
	if s := c.Arrive(now, Request{Priority: 1}); s.Kind != DoWait {
		t.Errorf("one of higher priority, that goes before: %+v", s)
	}
}
