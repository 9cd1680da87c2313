package router

// eventTwin follows what an observer of everything is told.
type eventTwin struct {
	last uint64
	at   map[string]WorkerRef // of open requests: where they are
	up   map[string]bool      // by worker ID
}

func newEventTwin() eventTwin {
	return eventTwin{at: map[string]WorkerRef{}, up: map[string]bool{}}
}

func everyKind() []EventKind {
	var kinds []EventKind
	for k := Arrived; k <= CacheCleared; k++ {
		kinds = append(kinds, k)
	}
	return kinds
}

// take checks law 10: numbers without a gap, and each request and worker with
// a history that makes sense.
func (o *eventTwin) take(x *lifetimes, events []Event) {
	for _, e := range events {
		if o.last++; e.Number != o.last {
			x.t.Fatalf("law 10: event %d comes after %d", e.Number, o.last-1)
		}
		x.answered = Mix(x.answered ^ uint64(e.Kind) ^ HashID(e.Worker.ID))
		at, known := o.at[e.Request]
		switch e.Kind {
		case Arrived:
			if known {
				x.t.Fatalf("law 10: %+v came before", e)
			}
			o.at[e.Request] = WorkerRef{}
		case Dispatched:
			if !known {
				x.t.Fatalf("law 10: %+v of a request that did not arrive", e)
			}
			o.at[e.Request] = e.Worker
		case FirstToken, Finished, FailedAttempt:
			if !known || at != e.Worker {
				x.t.Fatalf("law 10: %+v, but the request is at %v", e, at)
			}
			if e.Kind == Finished {
				delete(o.at, e.Request)
			}
		case WorkerUp, WorkerGone:
			if up := e.Kind == WorkerUp; o.up[e.Worker.ID] == up {
				x.t.Fatalf("law 10: %+v, but up is %v already", e, up)
			}
			o.up[e.Worker.ID] = e.Kind == WorkerUp
		}
	}
}
