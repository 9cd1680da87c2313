package router

import (
	"fmt"
	"math"
	"time"

	"gatewayd/pkg/estimator"
)

// Config sets up a Core. Zero fields take the default in their comment.
type Config struct {
	Pool string // name of the pool, for facts, plans and receipts
	Seed uint64 // seeds every draw
	// Links are the chain's strategies in order. Built-in two choices by least
	// load always follows as the last one.
	Links []Link

	PlanInterval  time.Duration // between plans of strategies that state none; 10 s
	AskDeadline   time.Duration // for one Route call; 25 ms
	FetchDeadline time.Duration // for shared facts, holds included; 0: there are none
	Alone         bool          // no other gateway reads the facts: holds are not among them
	MaxAttempts   int           // attempts at workers per request; 3
	MaxQueue      int           // requests waiting for a worker; 1024; negative: none
	MaxWait       time.Duration // of one request in the queue; 30 s
	MaxLife       time.Duration // after which an ending never reported is assumed; 1 h
	MaxHolds      int           // keys held per strategy; 262,144
	MaxKeys       int           // keys whose rate is tracked; 131,072; at most 1,048,576
	RateHalfLife  time.Duration // of key rates; 60 s
	IndexBlocks   int           // blocks remembered per worker whose KV size is unknown; 65,536
	WorkingSet    time.Duration // window of the working_set feature; 60 s
	PeerLife      time.Duration // after which a silent peer's figures are dropped; 10 s
}

// Link is one strategy of the chain.
type Link struct {
	Name string // unique in the chain
	Info Info
}

// BuiltIn is the name of the chain's last strategy: two choices by least load.
const BuiltIn = "two-choices"

// queuedWeight is what an uncached prompt token in a worker's queue weighs for
// the built-in, in requests in flight.
const queuedWeight = 1e-3

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	num := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	def(&c.PlanInterval, 10*time.Second)
	def(&c.AskDeadline, 25*time.Millisecond)
	def(&c.MaxWait, 30*time.Second)
	def(&c.MaxLife, time.Hour)
	def(&c.RateHalfLife, time.Minute)
	def(&c.WorkingSet, time.Minute)
	def(&c.PeerLife, 10*time.Second)
	num(&c.MaxQueue, 1024)
	for _, n := range []*int{&c.MaxAttempts, &c.MaxHolds, &c.MaxKeys, &c.IndexBlocks} {
		*n = max(*n, 0)
	}
	num(&c.MaxAttempts, 3)
	num(&c.MaxHolds, 1<<18)
	num(&c.MaxKeys, 1<<17)
	c.MaxKeys = min(c.MaxKeys, maxSnapshotRates)
	num(&c.IndexBlocks, 1<<16)
	return c
}

// Core runs a chain of strategies for one pool. It is pure: it never waits,
// reads no clock and calls no strategy; what is to be done comes back as Steps,
// PlanTasks, events and writes, and the driver feeds the results in. Its laws
// are in docs/laws.md.
//
// A Core is not safe for concurrent use: the driver serialises all calls.
// Calls take about a microsecond; building a plan's table (Compile) and a
// planner's input (PlanTask.Input) are made to happen outside.
type Core struct {
	cfg   Config
	links []link // the chain, the built-in last

	workers []*worker // of the fleet, ordered by ID
	fleet   uint64    // number of the fleet's snapshot
	begun   uint32    // lives of workers seen
	totals  totals

	lives       []*life
	unused      []int32
	oldest      lifeList
	queue       waiting
	displaced   []Step // refusals that Wake is to hand out
	settled     bool   // no waiting request can go before a worker changes or wakeAt
	wakeAt      Time   // when the first that a strategy made wait may go
	freed       int    // places that became free since the queue was last looked at
	pausedUntil Time   // when the first pause ends
	swept       uint64 // fleet number as of which all that wait have a worker that is up
	arrived     uint64 // requests seen

	rates          *estimator.Rates
	total          estimator.Mean
	output, prompt estimator.Mean
	reuse          reuse
	index          *index
	peers          map[string]peer
	alike          int // peers that send as much as this gateway, in parts of oneAlike

	events  uint64
	wanted  [CacheCleared + 1]bool // kinds of events that some link observes
	writes  []Write
	dropped Dropped

	cached     []int   // scratch: cached tokens per worker for the request at hand
	cachedFor  uint64  // number of that request, 0 if there is none
	candidates []int32 // scratch: slots that a rest picks from
	ties       []int32 // scratch: those of them that cost the same
	costs      []float64
	limits     []float64
	stuck      []string // scratch: adapters that no free worker serves
}

// Dropped counts what the core had to drop because a bound was reached.
type Dropped struct {
	Events uint64 // for observers that do not keep up
	Writes uint64 // of shared facts
	Blocks uint64 // believed to be in a worker's prefix cache
	Holds  uint64 // of keys
}

type link struct {
	name   string
	family string // of its shared holds
	info   Info
	down   bool // its process is away: do not ask

	plan     *Compiled
	version  uint64     // of the newest plan ever in force
	planned  Time       // when the plan was installed
	slotOf   []int32    // plan worker -> fleet slot, -1 if gone
	cost     []slotTerm // the plan's rows in the fleet's order
	limit    []slotTerm
	rotation uint64

	holds *lru[uint64, hold]

	misses  int  // deadlines missed in a row
	probeAt Time // while skipped: when to ask once again

	planning bool // a task is under way
	planNext Time
	planFor  uint64 // fleet number of the last task

	wants   [CacheCleared + 1]bool
	pending []Event
}

// New returns a core with no workers. It fails when two links have one name.
func New(cfg Config) (*Core, error) {
	cfg = cfg.withDefaults()
	c := &Core{cfg: cfg, peers: map[string]peer{}, pausedUntil: math.MaxInt64}
	c.rates = estimator.NewRates(cfg.RateHalfLife, cfg.MaxKeys)
	c.total.HalfLife, c.output.HalfLife, c.prompt.HalfLife = cfg.RateHalfLife, 10*cfg.RateHalfLife, 10*cfg.RateHalfLife
	c.reuse.init(cfg.RateHalfLife)
	c.oldest.init()
	names := map[string]bool{BuiltIn: true}
	for _, l := range cfg.Links {
		if names[l.Name] || l.Name == "" {
			return nil, fmt.Errorf("chain: strategy name %q is empty, repeated or reserved; give each strategy of a chain its own name", l.Name)
		}
		names[l.Name] = true
		c.links = append(c.links, link{name: l.Name, family: holdFamily + l.Name, holds: newLRU[uint64, hold](cfg.MaxHolds), planNext: Never, planned: Never})
		c.SetInfo(len(c.links)-1, l.Info)
	}
	builtIn, err := Compile(&Plan{Rest: Rest{Order: ByCost, Sample: 2, Cost: Row{
		{InFlight, []float64{1}}, {QueuedTokens, []float64{queuedWeight}},
	}}})
	if err != nil {
		return nil, err
	}
	c.links = append(c.links, link{name: BuiltIn, plan: builtIn})
	return c, nil
}

// SetInfo replaces what is known of a link's strategy, when its process has
// (re)started. The plan of a strategy that does not plan any more is dropped. A
// link that is out of range is ignored, here and elsewhere.
func (c *Core) SetInfo(i int, info Info) {
	if i < 0 || i >= len(c.cfg.Links) {
		return
	}
	l := &c.links[i]
	l.info = info
	if !info.Plans {
		l.plan = nil
	}
	l.wants = [len(l.wants)]bool{}
	for _, k := range info.Observes {
		if int(k) < len(l.wants) {
			l.wants[k] = true
		}
	}
	c.wanted = [len(c.wanted)]bool{}
	for i := range c.links {
		for k, wants := range c.links[i].wants {
			c.wanted[k] = c.wanted[k] || wants
		}
	}
	c.keepIndex()
}

// SetDown says whether a link's process is away. Its plan and holds go on
// deciding; it is not asked, and not planned with, until it is back.
func (c *Core) SetDown(i int, down bool) {
	if i < 0 || i >= len(c.cfg.Links) {
		return
	}
	if c.links[i].down = down; !down {
		c.links[i].misses = 0
	}
}

// keepIndex keeps the prefix index only while a strategy asks for it.
func (c *Core) keepIndex() {
	c.forgetCached()
	wanted := false
	for i := range c.links {
		wanted = wanted || c.links[i].info.Cached
	}
	switch {
	case !wanted:
		c.index = nil
		for _, w := range c.workers {
			c.index.forget(w)
		}
	case c.index == nil:
		c.index = &index{unknown: c.cfg.IndexBlocks, seed: Mix(c.cfg.Seed)}
	}
}

// Dropped returns what was dropped so far.
func (c *Core) Dropped() Dropped { return c.dropped }

// TakeWrites moves the shared facts to be stored to buf and returns it.
func (c *Core) TakeWrites(buf []Write) []Write {
	buf = append(buf, c.writes...)
	clear(c.writes)
	c.writes = c.writes[:0]
	return buf
}

const maxPending = 1 << 16

func (c *Core) write(w Write) {
	if len(c.writes) >= maxPending {
		c.dropped.Writes++
		return
	}
	c.writes = append(c.writes, w)
}
