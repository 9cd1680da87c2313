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
	Strategies []Strategy // the chain in order
	Decisions  []Decision // ordered by strategy, reason and fallback
}

// Request is what became of one request. Times count from the trace's start.
type Request struct {
	Arrived time.Duration // at the gateway
	First   time.Duration // first token; the end when there is no output
	Ended   time.Duration
	Prompt  int32 // tokens
	Output  int32 // tokens generated
	Cached  int32 // prompt tokens served from the worker's prefix cache
	Worker  int16 // index into Run.Workers; -1 if no worker took it
	Outcome Outcome
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
	numOutcomes
)

var outcomeNames = [numOutcomes]string{
	"pending", "completed", "too_large", "no_worker", "queue_full", "queue_timeout",
	"refused_by_strategy", "attempts_exhausted",
}

// String returns the outcome's name as used in reports.
func (o Outcome) String() string {
	if o < numOutcomes {
		return outcomeNames[o]
	}
	return "unknown"
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
