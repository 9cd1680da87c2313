// Package teststrategy holds strategies that tests run in plugin processes: two
// that show what they were given, and one with every fault.
package teststrategy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"hash/fnv"
	"log"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/pkg/router"
)

// Definitions returns all of them: route-only, plan-only and faulty.
func Definitions() []router.Definition {
	return []router.Definition{
		{
			Name: "route-only", Version: "1.2.3", Summary: "routes; the reason is a digest of all it has seen",
			Options: []router.Option{{Name: "salt", Default: "0", Help: "goes into the digest", Values: []string{"0", "1"}}},
			New:     newRouteOnly,
		},
		{Name: "plan-only", Version: "4.5.6", Summary: "plans; the note is a digest of the input", New: newPlanOnly},
		{Name: "faulty", Version: "0", Summary: "does as the request's ID says", New: newFaulty},
	}
}

func digest(values ...any) uint64 {
	h := fnv.New64a()
	for _, v := range values {
		fmt.Fprintf(h, "%+v\n", v)
	}
	return h.Sum64()
}

// routeOnly ranks the workers by load; it remembers events in a digest.
type routeOnly struct {
	salt string
	seen uint64
}

func newRouteOnly(o router.Options, seed uint64) (router.Instance, error) {
	for name, value := range o {
		if name != "salt" || value != "0" && value != "1" {
			return nil, fmt.Errorf("option %s=%s: there is only salt, which is 0 or 1", name, value)
		}
	}
	return &routeOnly{salt: o["salt"], seen: seed}, nil
}

func (s *routeOnly) Info() router.Info {
	return router.Info{
		Name: "route-only", Version: "1.2.3", Routes: true, Cached: true, Blocks: true, Interval: time.Minute,
		Facts:    []string{"a", "b"},
		Observes: []router.EventKind{router.Dispatched, router.Finished, router.CacheCleared},
	}
}

func (s *routeOnly) Observe(events []router.Event) { s.seen = digest(s.seen, events) }

func (s *routeOnly) Route(in router.Input) router.Decision {
	s.seen = digest(s.seen, s.salt, in)
	d := router.Decision{Verdict: router.Route, Reason: fmt.Sprintf("%x", s.seen)}
	for i := range in.Workers {
		d.Ranking = append(d.Ranking, router.Placement{Role: router.Role(s.seen >> i % 3), Worker: i, Rank: i % 3})
	}
	slices.SortStableFunc(d.Ranking, func(a, b router.Placement) int {
		return in.Workers[a.Worker].Load.InFlight - in.Workers[b.Worker].Load.InFlight
	})
	d.Hold = router.Hold{TTL: time.Duration(s.seen % 7), Guard: router.Guard{Of: router.QueuedTokens, Factor: 1.5, Slack: 2}}
	d.Writes = []router.Write{{Fact: router.Fact{FactKey: router.FactKey{Family: "a", Key: in.Request.Key}, Value: []byte(in.Request.ID)}, TTL: time.Hour}}
	return d
}

// planOnly spreads the keys of its rates over the workers.
type planOnly struct{ seed uint64 }

func newPlanOnly(_ router.Options, seed uint64) (router.Instance, error) {
	return &planOnly{seed}, nil
}

func (s *planOnly) Info() router.Info {
	return router.Info{Name: "plan-only", Version: "4.5.6", Plans: true, Rates: true}
}

func (s *planOnly) Plan(in router.PlanInput) (router.Plan, error) {
	var p router.Plan
	for _, w := range in.Fleet.Workers {
		p.Workers = append(p.Workers, router.WorkerRef{ID: w.ID, Incarnation: w.Incarnation})
		p.Expected = append(p.Expected, in.TotalRate)
	}
	n := uint64(len(p.Workers))
	if n == 0 {
		return p, errors.New("there are no workers")
	}
	for i, r := range in.Rates {
		if i%10 == 0 {
			p.Table.Append(r.Key, uint16(r.Key%n), uint16((r.Key+1)%n))
			continue
		}
		p.Table.Append(r.Key, uint16(r.Key%n))
	}
	p.Guard = router.Guard{Of: router.InFlight, Factor: 1.25, Slack: 4}
	p.Rest = router.Rest{
		Order: router.ByCost, Among: []uint16{0}, Sample: 2, Bound: 7, FirstTie: true,
		Cost:  router.Row{{Feature: router.One, Weights: p.Expected}, {Feature: router.WorkingSet, Weights: []float64{0.5}}},
		Limit: router.Row{{Feature: router.KVUsed, Weights: []float64{1}}},
	}
	p.Bind = router.Bind{TTL: time.Minute, Keep: true, MinCached: 0.25}
	p.Note = note(s.seed, in)
	return p, nil
}

// note is a digest of the input, quick for many keys.
func note(seed uint64, in router.PlanInput) string {
	var b []byte
	for _, r := range in.Rates {
		b = binary.LittleEndian.AppendUint64(b, r.Key)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Rate))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Tokens))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Home))
	}
	in.Rates = nil
	if in.Previous == nil {
		return fmt.Sprintf("%x", digest(seed, in, crc64.Checksum(b, crc64.MakeTable(crc64.ECMA))))
	}
	p := *in.Previous
	for i, key := range p.Table.Keys {
		b = binary.LittleEndian.AppendUint64(b, key)
		for _, m := range p.Table.Of(i) {
			b = binary.LittleEndian.AppendUint16(b, m)
		}
	}
	in.Previous, p.Table = nil, router.Table{}
	return fmt.Sprintf("%x", digest(seed, in, p, crc64.Checksum(b, crc64.MakeTable(crc64.ECMA))))
}

// faulty does as the request's ID, the pool of the plan input or its option
// "open" says.
type faulty struct {
	gate chan struct{} // routes with ID "hang" wait until a plan for "release"
}

func newFaulty(o router.Options, _ uint64) (router.Instance, error) {
	switch o["open"] {
	case "":
	case "once":
		f, err := os.OpenFile(o["file"], os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, errors.New("option open=once: it was opened before")
		}
		f.Close()
	case "print":
		fmt.Println("to standard output")
		fmt.Fprintln(os.Stderr, "to standard error")
		log.New(os.Stderr, "", 0).Print("from log")
		slog.New(slog.NewJSONHandler(os.Stderr, nil)).Warn("from slog", "n", 1)
		hclog.New(&hclog.LoggerOptions{Output: os.Stderr, JSONFormat: true, Level: hclog.Trace, Name: "sub"}).Debug("from hclog", "k", "v")
		fmt.Fprintln(os.Stderr, `{"@message": 5, "@level": {}}`)
		fmt.Fprintln(os.Stderr, "last line")
	default:
		return nil, fmt.Errorf("option open=%s is unknown", o["open"])
	}
	return &faulty{gate: make(chan struct{})}, nil
}

func (s *faulty) Info() router.Info {
	return router.Info{Name: "faulty", Version: "0", Routes: true, Plans: true, Observes: []router.EventKind{router.Arrived}}
}

// Observe does nothing.
func (s *faulty) Observe([]router.Event) {}

func (s *faulty) Route(in router.Input) router.Decision {
	switch in.Request.ID {
	case "crash":
		panic("crash in route")
	case "hang":
		<-s.gate
	case "out of range":
		return router.Decision{Verdict: router.Route, Ranking: []router.Placement{{Worker: len(in.Workers)}}}
	case "negative":
		return router.Decision{Verdict: router.Route, Ranking: []router.Placement{{Worker: -1}}}
	case "verdict":
		return router.Decision{Verdict: 9}
	case "long ranking":
		return router.Decision{Verdict: router.Route, Ranking: make([]router.Placement, 1000*len(in.Workers))}
	case "long reason":
		return router.Decision{Reason: strings.Repeat("x", 200)}
	case "writes":
		return router.Decision{Writes: make([]router.Write, 100)}
	case "long fact":
		return router.Decision{Writes: []router.Write{{Fact: router.Fact{Value: make([]byte, 1<<20)}}}}
	case "no family":
		return router.Decision{Writes: []router.Write{{TTL: time.Second}}}
	case "no time":
		return router.Decision{Writes: []router.Write{{Fact: router.Fact{FactKey: router.FactKey{Family: "f"}}}}}
	case "100 MB":
		return router.Decision{Reason: strings.Repeat("x", 100<<20)}
	case "not text":
		return router.Decision{Reason: "\xff\xfe"}
	}
	return router.Decision{Verdict: router.Route, Ranking: []router.Placement{{}}, Reason: in.Request.ID}
}

func (s *faulty) Plan(in router.PlanInput) (router.Plan, error) {
	switch in.Pool {
	case "crash":
		panic("crash in plan")
	case "hang":
		<-s.gate
	case "release":
		close(s.gate)
	case "error":
		return router.Plan{}, errors.New("no plan today")
	case "offsets":
		return router.Plan{Table: router.Table{Keys: []uint64{1}}}, nil
	case "long note":
		return router.Plan{Note: strings.Repeat("x", 5000)}, nil
	case "environment":
		return router.Plan{Note: strings.Join(os.Environ(), "\n")}, nil
	}
	return router.Plan{Note: in.Pool}, nil
}
