package router

import "time"

// Plan is decided once per interval and executed by the core for every request
// until the next one. The zero Plan abstains for every key.
type Plan struct {
	// Version is set by the host: it grows with every plan of the pool.
	Version uint64
	// Workers are what the indexes below refer to.
	Workers []WorkerRef
	Table   Table
	Guard   Guard
	Rest    Rest
	Bind    Bind
	// Expected is the load the planner expects per worker (req/s, at least 0), for
	// receipts and reports; nil if it makes no such statement.
	Expected []float64
	// Speeds are how much work the planner takes each worker to do in a time, at
	// least 0, on average 1; nil if all do the same.
	Speeds []float64
	// Next is the time until the next plan is to be made; 0 leaves it to Info.Interval
	// or the host.
	Next time.Duration
	// Note is one line for people: what the planner did and why.
	Note string
	// Trial is what the planner notes for the next plan, which gets this one as
	// its previous. The core does not look at it.
	Trial Trial
}

// Trial compares two ways to plan by what each was measured at.
type Trial struct {
	Began Time    // when the present way was taken
	Rival float64 // share of prompt tokens that were cached under the other way, 0..1
	Rated bool    // Rival was measured
	Lost  bool    // the other way was given up for the present one
}

// Table maps keys to workers, packed: the workers of Keys[i] are
// Members[Offsets[i]:Offsets[i+1]]. The least loaded eligible member serves.
type Table struct {
	Keys    []uint64
	Offsets []uint32 // len(Keys)+1 entries, ascending; nil if there are no keys
	Members []uint16 // indexes into Plan.Workers
}

// Of returns the workers of the i-th key.
func (t *Table) Of(i int) []uint16 { return t.Members[t.Offsets[i]:t.Offsets[i+1]] }

// Append adds a key with its workers.
func (t *Table) Append(key uint64, members ...uint16) {
	if t.Offsets == nil {
		t.Offsets = []uint32{0}
	}
	t.Keys = append(t.Keys, key)
	t.Members = append(t.Members, members...)
	t.Offsets = append(t.Offsets, uint32(len(t.Members)))
}

// Guard bounds a worker's load relative to the mean: worker w is skipped iff
// load_w + 1 > max(Slack, Factor * (total + 1) / n) over the n workers of the
// pool that are up (the bound of consistent hashing with bounded loads). Factor 0
// is no guard. Slack is a batch knee: below it load costs no latency, and
// skipping a warm worker would only lose its cache.
type Guard struct {
	Of     Feature // InFlight or QueuedTokens
	Factor float64 // 0, or >= 1
	Slack  float64 // >= 0, in the unit of the load
}

// Order is how a rest picks among its workers.
type Order uint8

const (
	Abstain      Order = iota // no opinion: the next strategy is asked
	ByCost                    // the least cost
	ByRendezvous              // the key's rendezvous order, skipping workers above the limit and the guard
	ByRotation                // one after the other
)

// Rest is what a plan does with keys that are not in its table and not held.
type Rest struct {
	Order Order
	// Among are the indexes of the workers to pick from, each once; none means all.
	Among []uint16
	// Sample, if > 0, draws that many distinct workers first (2: two choices).
	Sample int
	// Cost is the row that ByCost minimises. ByRendezvous minimises it, if it is not
	// empty, for a key that Bind.MinCached has just freed, among workers with room for
	// its prompt: their working set with it is at most 1.2 times their cache. If none
	// has room, the fullest cache takes it.
	Cost Row
	// Limit, if not empty, makes ByCost keep workers whose row is at most Bound; if
	// there is none, the least Limit wins. It makes ByRendezvous skip workers whose
	// row is above Bound times its mean over the workers that may be picked.
	Limit Row
	Bound float64
	// FirstTie breaks ties by the lowest worker ID; otherwise each request
	// breaks them in an order of its own, which spreads.
	FirstTie bool
}

// Bind makes the core hold, for the request's key, the worker that the request
// was finally dispatched to, whichever strategy chose it.
type Bind struct {
	// TTL is the idle time after which a key is free again; 0 = no binding, and keys
	// that earlier plans bound are free while this one is in force.
	TTL time.Duration
	// Keep keeps the first binding while its worker is up and serves the key,
	// also when a request had to go elsewhere; otherwise the binding moves with
	// the request.
	Keep bool
	// MinCached, if > 0, ends a hold when less than this share of a prompt, which
	// begins as the key's last one did, is left in the held worker's cache: moving
	// costs nothing then. Needs Info.Cached.
	MinCached float64
}
