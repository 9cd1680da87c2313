package router

import "time"

// Strategy decides one request, now. Route is called from one goroutine at a
// time and must not keep or change its input.
type Strategy interface{ Route(in Input) Decision }

// Planner decides ahead, for many keys: it is called once per interval and
// after each change of membership, concurrently with Route. It must work from
// its input alone (the previous plan is in it), so that losing the process
// loses nothing.
type Planner interface {
	Plan(in PlanInput) (Plan, error)
}

// Observer learns what became of requests. Observe is called from the same
// goroutine as Route.
type Observer interface{ Observe(events []Event) }

// Instance is one configured strategy. It also implements one or more of
// Strategy, Planner and Observer, as its Info says.
type Instance interface{ Info() Info }

// Info says what an instance does and needs.
type Info struct {
	Name    string
	Version string
	Routes  bool // Route is to be called when its plan and holds do not decide
	Plans   bool // Plan is to be called
	// Interval is the time between two plans; 0 means the host's default.
	Interval time.Duration
	// Observes lists the kinds of events Observe wants.
	Observes []EventKind
	// Cached asks for the prefix index: Input.Cached, the uncached features and
	// Bind.MinCached work only with it.
	Cached bool
	// Blocks asks for the block hashes in Input.Request.
	Blocks bool
	// Rates asks for per-key rates in PlanInput.
	Rates bool
	// Facts lists the families of shared facts that Route reads.
	Facts []string
}

// Input is everything a strategy may use to decide one request.
type Input struct {
	Now     Time
	Seed    uint64 // this decision's randomness
	Request Request
	// Fleet is the number of the snapshot that Workers were taken from.
	Fleet uint64
	// Workers are the eligible workers, ordered by ID: up, serving the model,
	// below their limits, not tried before. Never empty.
	Workers []Worker
	// Cached estimates, per worker, the prompt tokens in its prefix cache; nil
	// unless Info.Cached.
	Cached []int
	// Facts are the values found for the families of Info.Facts.
	Facts []Fact
}

// KeyRate is the measured demand for one key, over all gateways.
type KeyRate struct {
	Key    uint64
	Rate   float64 // requests per second, > 0
	Tokens float64 // mean prompt tokens
	Home   int     // worker that served it last, as index into Fleet.Workers plus one; 0 = unknown or gone
}

// PlanInput is everything a planner may use.
type PlanInput struct {
	Now   Time
	Seed  uint64
	Pool  string
	Fleet Fleet
	// Rates are the measured rates of keys, ordered by key; nil unless Info.Rates.
	Rates []KeyRate
	// TotalRate is the pool's request rate in requests per second, known keys or not.
	TotalRate float64
	// OutputTokens and PromptTokens are the pool's learned means; 0 = unknown.
	OutputTokens, PromptTokens float64
	// HalfLife is that of Rates: a rate times HalfLife / ln 2 is the number of
	// requests that speak for it; 0 = unknown.
	HalfLife time.Duration
	// Reuse is what the caches were worth of late.
	Reuse Reuse
	// Depth is how much of a prompt was in a cache, of prompts of which some was, 0..1:
	// ends of prompts that were never sent before are the rest; 0 = unknown.
	Depth float64
	// Last says that no other strategy follows in the chain: what the plan leaves
	// open goes to the built-in.
	Last bool
	// Previous is the plan in force, nil if there is none; PreviousAge its age.
	Previous    *Plan
	PreviousAge time.Duration
}

// Option describes one option of a strategy: NAME:key=value.
type Option struct {
	Name    string
	Default string
	Help    string
	// Values lists the allowed words, if it is a choice.
	Values []string
}

// Options are the options given to one instance, by name, as text.
type Options map[string]string

// Definition is how a strategy is named, described and made. It is what a
// plugin serves and what the catalog lists.
type Definition struct {
	Name    string // kebab-case
	Version string
	Summary string // one line
	Options []Option
	// New makes an instance. It returns an error that names the option and what
	// it may be when an option is unknown or out of range. The same options and
	// seed give instances that answer alike.
	New func(o Options, seed uint64) (Instance, error)
}
