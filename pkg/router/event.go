package router

// EventKind says what an event reports.
type EventKind uint8

const (
	Arrived         EventKind = iota + 1 // a request came in
	Dispatched                           // it was sent to a worker
	FirstToken                           // its first token came back
	Finished                             // it ended well
	FailedAttempt                        // an attempt at a worker failed
	Forgotten                            // a key was dropped by the operator
	WorkerUp                             // a worker joined or came back
	WorkerGone                           // a worker left or went down
	WorkerRestarted                      // a worker began a new life
	CacheCleared                         // a worker's prefix cache was emptied
)

// Event is one numbered fact about a request or a worker.
type Event struct {
	Number  uint64 // 1, 2, 3 ... in the order in which they happened
	Kind    EventKind
	At      Time
	Request string // request ID, "" for worker events
	Key     uint64
	Worker  WorkerRef
	Attempt int    // 1 for the first
	By      string // the strategy that chose the worker
	Usage   Usage  // of Finished
}
