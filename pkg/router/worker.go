package router

import "time"

// Worker is one independently routable model server (a tensor-parallel group
// is one) as strategies see it.
type Worker struct {
	// ID is the worker's name, unique in the pool and stable over restarts.
	ID string
	// Incarnation numbers the worker's lives; a restart begins a new one with an
	// empty cache.
	Incarnation uint64
	// Zone is the electricity grid zone, or "".
	Zone string
	// Concurrency is the most requests the worker may have in flight; 0 = no limit.
	Concurrency int
	// KVTokens is the capacity of the KV cache in tokens; 0 = unknown.
	KVTokens int
	// Energy and Carbon are what is known of its electricity.
	Energy Energy
	Carbon Carbon
	// Load is the worker's load when the snapshot was taken.
	Load Load
}

// Energy is a worker's electricity model. Any figure may be unknown (0).
//
// A batch of B sequences draws about SharedJoules/B + DecodeJoules per output
// token (fit of measured batch/energy points), so DecodeJoules is the marginal
// cost of a token and SharedJoules the price of keeping the engine stepping.
type Energy struct {
	PrefillJoules float64 // J per computed prompt token
	DecodeJoules  float64 // J per output token, marginal
	SharedJoules  float64 // J per engine step, shared by its batch
	WakeWatts     float64 // power step from idle to active, W
	PUE           float64 // facility power / IT power, >= 1; 0 = unknown
}

// Carbon is the intensity of the electricity that a worker uses.
type Carbon struct {
	GramsPerKWh Gauge  // gCO2e/kWh
	Marginal    bool   // marginal instead of average intensity; never mix the two
	Source      string // where the figure comes from
}

// Load is a worker's load. In-flight figures come from the gateways' own
// ledgers and credit a dispatch at once; in Input they have besides what peers are
// likely to have added since they told. The gauges are scraped or estimated and have
// an age.
type Load struct {
	InFlight     int           // requests dispatched and not ended, all gateways
	QueuedTokens int           // uncached prompt tokens whose first token is not seen yet
	WorkingSet   int           // prompt tokens of the keys seen here within the window; 0 unless asked for
	PeersAge     time.Duration // age of the oldest peer gateway's part of the figures above
	Running      Gauge         // sequences in the engine's batch
	Waiting      Gauge         // sequences in the engine's queue
	KVUsed       Gauge         // share of the KV cache in use, 0..1; estimated by what is in flight where only Running is told
	TTFT         Gauge         // smoothed time to first token, s
	Latency      Gauge         // smoothed request latency, s
}

// WorkerRef names one life of a worker.
type WorkerRef struct {
	ID          string
	Incarnation uint64
}

// Fleet is an immutable, numbered snapshot of a pool's workers, ordered by ID.
type Fleet struct {
	Number  uint64
	Workers []Worker
}
