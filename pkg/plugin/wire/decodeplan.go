package wire

import (
	"fmt"
	"slices"
	"time"

	"gatewayd/pkg/router"
)

// DecodePlanInput returns the input for m, without its workers, rates and
// previous table.
func DecodePlanInput(m *PlanInput) (router.PlanInput, error) {
	in := router.PlanInput{
		Now:          router.Time(m.GetNow()),
		Seed:         m.GetSeed(),
		Pool:         m.GetPool(),
		Fleet:        router.Fleet{Number: m.GetFleet()},
		TotalRate:    m.GetTotalRate(),
		OutputTokens: m.GetOutputTokens(),
		PromptTokens: m.GetPromptTokens(),
		PreviousAge:  time.Duration(m.GetPreviousAge()),
		HalfLife:     time.Duration(m.GetHalfLife()),
		Last:         m.GetLast(),
		Reuse:        router.Reuse{By: router.Signal(m.GetReuse().GetBy()), Share: m.GetReuse().GetShare()},
		Depth:        m.GetDepth(),
	}
	if m.GetPrevious() != nil {
		previous, err := DecodePlan(m.GetPrevious())
		if err != nil {
			return router.PlanInput{}, fmt.Errorf("previous plan: %w", err)
		}
		in.Previous = &previous
	}
	return in, nil
}

// DecodeFleet appends the workers of m to f.
func DecodeFleet(m *Fleet, f *router.Fleet) {
	f.Workers = append(f.Workers, mapped(m.GetWorkers(), DecodeWorker)...)
}

// DecodeRates appends the rates of m to rates.
func DecodeRates(m *KeyRates, rates []router.KeyRate) ([]router.KeyRate, error) {
	n := len(m.GetKeys())
	if len(m.GetRates()) != n || len(m.GetTokens()) != n || len(m.GetHomes()) != n {
		return nil, fmt.Errorf("%d keys with %d rates, %d token means and %d homes", n, len(m.GetRates()), len(m.GetTokens()), len(m.GetHomes()))
	}
	for i, key := range m.GetKeys() {
		rates = append(rates, router.KeyRate{Key: key, Rate: m.Rates[i], Tokens: m.Tokens[i], Home: int(m.Homes[i])})
	}
	return rates, nil
}

// maxNote bounds a plan's note, in bytes.
const maxNote = 4096

// DecodePlan returns the plan of m without its table.
func DecodePlan(m *Plan) (router.Plan, error) {
	r, b, trial := m.GetRest(), m.GetBind(), m.GetTrial()
	p := router.Plan{
		Version: m.GetVersion(),
		Workers: mapped(m.GetWorkers(), decodeRef),
		Rest: router.Rest{
			Order:    router.Order(r.GetOrder()),
			Sample:   int(r.GetSample()),
			Bound:    r.GetBound(),
			FirstTie: r.GetFirstTie(),
		},
		Bind:     router.Bind{TTL: time.Duration(b.GetTtl()), Keep: b.GetKeep(), MinCached: b.GetMinCached()},
		Expected: cloned(m.GetExpected()),
		Note:     m.GetNote(),
		Trial:    router.Trial{Began: router.Time(trial.GetBegan()), Rival: trial.GetRival(), Rated: trial.GetRated(), Lost: trial.GetLost()},
		Speeds:   cloned(m.GetSpeeds()),
		Next:     time.Duration(m.GetNext()),
	}
	if _, ok := Order_name[int32(r.GetOrder())]; !ok {
		return router.Plan{}, fmt.Errorf("rest has unknown order %d", r.GetOrder())
	}
	if n := len(p.Note); n > maxNote {
		return router.Plan{}, fmt.Errorf("note of %d bytes, at most %d are allowed", n, maxNote)
	}
	var err error
	if p.Guard, err = decodeGuard(m.GetGuard()); err != nil {
		return router.Plan{}, fmt.Errorf("guard: %w", err)
	}
	if p.Rest.Among, err = decodeIndexes(r.GetAmong()); err != nil {
		return router.Plan{}, fmt.Errorf("rest: %w", err)
	}
	if p.Rest.Cost, err = decodeRow(r.GetCost()); err != nil {
		return router.Plan{}, fmt.Errorf("rest cost: %w", err)
	}
	if p.Rest.Limit, err = decodeRow(r.GetLimit()); err != nil {
		return router.Plan{}, fmt.Errorf("rest limit: %w", err)
	}
	return p, nil
}

func decodeRow(ms []*Term) (router.Row, error) {
	var row router.Row
	for _, m := range ms {
		f, err := decodeFeature(m.GetFeature())
		if err != nil {
			return nil, err
		}
		row = append(row, router.Term{Feature: f, Weights: cloned(m.GetWeights())})
	}
	return row, nil
}

func decodeIndexes(ms []uint32) ([]uint16, error) {
	for _, m := range ms {
		if m >= router.MaxPlanWorkers {
			return nil, fmt.Errorf("worker index %d, at most %d workers are allowed", m, router.MaxPlanWorkers)
		}
	}
	return numbers[uint32, uint16](ms), nil
}

// room makes room for n more elements, and for as many as there are: append alone
// would copy a long table many times.
func room[A any](as []A, n int) []A {
	if cap(as)-len(as) < n {
		as = slices.Grow(as, max(n, len(as)))
	}
	return as
}

// MaxPlanMembers bounds the workers that all rows of a table name together.
const MaxPlanMembers = 2 * router.MaxPlanKeys

// DecodeTable appends the rows of m to t.
func DecodeTable(m *PlanTable, t *router.Table) error {
	if len(m.GetCounts()) != len(m.GetKeys()) {
		return fmt.Errorf("table part has %d keys but %d counts", len(m.GetKeys()), len(m.GetCounts()))
	}
	if len(m.GetKeys()) == 0 && len(m.GetMembers()) == 0 {
		return nil
	}
	if n := len(t.Keys) + len(m.GetKeys()); n > router.MaxPlanKeys {
		return fmt.Errorf("table has %d keys, at most %d are allowed", n, router.MaxPlanKeys)
	}
	if n := len(t.Members) + len(m.GetMembers()); n > MaxPlanMembers {
		return fmt.Errorf("table names %d workers, at most %d are allowed", n, MaxPlanMembers)
	}
	members, err := decodeIndexes(m.GetMembers())
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if t.Offsets == nil {
		t.Offsets = []uint32{0}
	}
	t.Keys, t.Offsets, t.Members = room(t.Keys, len(m.GetKeys())), room(t.Offsets, len(m.GetKeys())), room(t.Members, len(members))
	end := uint64(len(t.Members))
	for _, n := range m.GetCounts() {
		if end += uint64(n); end > uint64(len(t.Members)+len(members)) {
			return fmt.Errorf("table part counts more members than the %d it has", len(members))
		}
		t.Offsets = append(t.Offsets, uint32(end))
	}
	if end != uint64(len(t.Members)+len(members)) {
		return fmt.Errorf("table part counts fewer members than the %d it has", len(members))
	}
	t.Keys = append(t.Keys, m.GetKeys()...)
	t.Members = append(t.Members, members...)
	return nil
}
