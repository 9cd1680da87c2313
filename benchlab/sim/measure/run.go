// Package measure turns what became of requests into the figures that a
// comparison reports. It is pure and knows nothing of how the requests were run,
// so simulated and live traffic are measured alike.
//
// Reading order: run.go (what is measured), figures.go (all figures of a run),
// spread.go (distributions), balance.go (load, energy and carbon).
package measure

import (
	"time"

	"gatewayd/benchlab/engine"
)

// Run is what became of the requests of one run.
type Run struct {
	Requests   []Request // in the order of the trace
	Workers    []Worker
	Strategies []Strategy // the chain in order; over all gateways
	Decisions  []Decision // ordered by strategy, reason and fallback; over all gateways
	Series     Series     // empty if nobody watched
	Faults     []Fault    // that happened, in order of time
}

// Request is what became of one request, in 64 bytes. Times count from the
// trace's start.
type Request struct {
	Arrived time.Duration // when it was sent, or was to be sent
	First   time.Duration // first token; the end when there is no output
	Ended   time.Duration
	Prompt  int32 // tokens
	Output  int32 // tokens generated
	Cached  int32 // prompt tokens served from the worker's prefix cache
	Misses        // of completed requests; with Cached they add up to Prompt
	Worker  int16 // index into Run.Workers, of the last attempt; -1 if no worker took it
	Outcome Outcome
	// Attempts at workers; 255 are 255 or more.
	Attempts uint8
	Gateway  uint8 // number of the gateway that served it, from 0
}

// Misses are the prompt tokens that a worker had to compute, by the reason why
// they were not in its prefix cache when it began. Live runs do not know.
type Misses struct {
	// Compulsory ones nobody could have had: no earlier request began with them, or
	// they are the tail of the prompt, which fills no block of the cache.
	Compulsory int32
	// Evicted ones were seen before, but no worker had them any more when the
	// request was routed, or the worker lost them until it began.
	Evicted int32
	// Elsewhere are those that another worker had when the request was routed.
	Elsewhere int32
	// Stale are those that the gateway's view promised here and that were not
	// here. Only gateways whose strategies ask for a view of caches have one.
	Stale int32
}

// Outcome is how a request ended.
type Outcome uint8

const (
	Pending           Outcome = iota // it has not ended
	Complete                         // the whole answer came
	TooLarge                         // prompt and answer never fit the worker's KV cache
	NoWorker                         // no worker was up
	QueueFull                        // the gateway's queue was full
	QueueTimeout                     // it waited too long in the gateway's queue
	RefusedByStrategy                // a strategy turned it away
	AttemptsExhausted                // every attempt at a worker failed
	TooLong                          // prompt and answer exceed the model's context
	WorkerLost                       // the worker went away after the first token
	GatewayLost                      // the gateway went away
	NoGateway                        // no gateway was up
	Unreachable                      // live: no connection
	ClientError                      // live: the answer had a status of 4xx
	ServerError                      // live: the answer had a status of 5xx or none
	Cut                              // live: the stream broke off
	Empty                            // live: the answer held no content
	Malformed                        // live: the answer could not be read
	TimedOut                         // live: the answer took too long
	NotSent                          // live: it was not sent
	numOutcomes
)

var outcomeNames = [numOutcomes]string{
	"pending", "completed", "too_large", "no_worker", "queue_full", "queue_timeout",
	"refused_by_strategy", "attempts_exhausted", "too_long", "worker_lost", "gateway_lost", "no_gateway",
	"unreachable", "client_error", "server_error", "cut", "empty", "malformed", "timed_out", "not_sent",
}

// String returns the outcome's name as used in reports.
func (o Outcome) String() string {
	if o < numOutcomes {
		return outcomeNames[o]
	}
	return "unknown"
}

// Fault is something that went wrong, or was over, during a run.
type Fault struct {
	At   time.Duration `json:"at_ns"`
	Text string        `json:"text"` // as the schedule says it
	Over bool          `json:"over"` // it ended then
}

// MaxBuckets is the most buckets that a Series has.
const MaxBuckets = 120

// Series is load over time: means over buckets of equal width, the first of which
// begins at the trace's start.
type Series struct {
	Step time.Duration `json:"step_ns"` // width of a bucket
	// Load is, by worker and bucket, the requests that it had, running or waiting.
	Load [][]float32 `json:"load"`
	// Queued is, by bucket, the requests that waited in the gateways.
	Queued []float32 `json:"queued"`
}

// Worker is what one worker did in a run.
type Worker struct {
	ID          string
	Zone        string
	PUE         engine.Figure // facility power over IT power
	GramsPerKWh engine.Figure // gCO2e/kWh of its electricity
	Stats       engine.Stats  // at the end of the run
	Prefill     time.Duration // in which a request waited for its first token here
}

// Strategy is what one strategy of the chain planned.
type Strategy struct {
	Name       string `json:"name"`
	Plans      int    `json:"plans"`                 // put in force
	Failed     int    `json:"failed_plans"`          // not made or not valid
	FirstError string `json:"first_error,omitempty"` // of the failed plans
	Keys       int    `json:"keys"`                  // in the table of the last plan
	// Churn is the mean of 1 - Jaccard of a key's workers before and after a plan,
	// over all keys in two successive plans; Compared is how many that were, and
	// Churn is unknown if there were none.
	Churn    engine.Figure `json:"churn"`
	Compared int           `json:"keys_compared"`
}

// Decision counts the requests that one strategy placed for one reason.
type Decision struct {
	Strategy string `json:"strategy"`
	Reason   string `json:"reason"`
	Fallback string `json:"fallback,omitempty"` // why earlier strategies did not decide
	Count    int    `json:"count"`
}
