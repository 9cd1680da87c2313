package sim

import "gatewayd/pkg/router"

// eventKind says what is to happen; at one instant, lower kinds come first.
type eventKind uint8

const (
	stepEnds    eventKind = iota // of machine who
	faultEnds                    // number who of the schedule
	faultBegins                  // number who of the schedule
	noticed                      // by the gateways: machine who
	planReady                    // at gateway who, of the link in turn
	answered                     // by the strategy that job who asks, or by the store
	timedOut                     // job who, waiting in its gateway's queue
	scrapes                      // of gateway who
	ticks                        // the clock of all gateways
	syncs                        // of gateway who
	plans                        // of gateway who may be due
	wakes                        // at gateway who a request's wait is over
	arrives                      // row who of the trace
)

// event is one entry of the agenda.
type event struct {
	at   router.Time
	seq  uint64 // order of entry, which breaks ties
	turn uint64 // what who was at when this was entered: stale entries are skipped
	who  int32
	kind eventKind
}

func (e *event) before(f *event) bool {
	if e.at != f.at {
		return e.at < f.at
	}
	if e.kind != f.kind {
		return e.kind < f.kind
	}
	return e.seq < f.seq
}

// agenda is a binary heap of events by time, kind and order of entry.
type agenda struct {
	heap []event
	seq  uint64
}

func (a *agenda) add(e event) {
	a.seq++
	e.seq = a.seq
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&a.heap[parent]) {
			break
		}
		a.heap[i] = a.heap[parent]
		i = parent
	}
	a.heap[i] = e
}

// next returns the time of the first event; there must be one.
func (a *agenda) next() router.Time { return a.heap[0].at }

// pop removes and returns the first event; there must be one.
func (a *agenda) pop() event {
	first := a.heap[0]
	last := len(a.heap) - 1
	e := a.heap[last]
	a.heap = a.heap[:last]
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && a.heap[child+1].before(&a.heap[child]) {
			child++
		}
		if !a.heap[child].before(&e) {
			break
		}
		a.heap[i] = a.heap[child]
		i = child
	}
	if last > 0 {
		a.heap[i] = e
	}
	return first
}
