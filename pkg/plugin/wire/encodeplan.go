package wire

import (
	"iter"

	"gatewayd/pkg/router"
)

// chunkBytes bounds the messages that a large plan is cut into.
const chunkBytes = 1 << 20

// EncodePlanInput returns the first message of a plan call: in without its
// workers, rates and previous table.
func EncodePlanInput(in *router.PlanInput) *PlanInput {
	m := &PlanInput{
		Now:          int64(in.Now),
		Seed:         in.Seed,
		Pool:         Text(in.Pool),
		Fleet:        in.Fleet.Number,
		TotalRate:    in.TotalRate,
		OutputTokens: in.OutputTokens,
		PromptTokens: in.PromptTokens,
		PreviousAge:  int64(in.PreviousAge),
		HalfLife:     int64(in.HalfLife),
		Last:         in.Last,
		Reuse:        &Reuse{By: Signal(in.Reuse.By), Share: in.Reuse.Share},
		Depth:        in.Depth,
	}
	if in.Previous != nil {
		m.Previous = EncodePlan(in.Previous)
	}
	return m
}

// EncodeFleet yields the workers in messages of bounded size.
func EncodeFleet(workers []router.Worker) iter.Seq[*Fleet] {
	const perChunk = chunkBytes / 1024
	return func(yield func(*Fleet) bool) {
		for len(workers) > 0 {
			n := min(perChunk, len(workers))
			part := &Fleet{Workers: make([]*Worker, n)}
			for i := range part.Workers {
				part.Workers[i] = EncodeWorker(&workers[i])
			}
			if workers = workers[n:]; !yield(part) {
				return
			}
		}
	}
}

// EncodeRates yields the rates in messages of bounded size.
func EncodeRates(rates []router.KeyRate) iter.Seq[*KeyRates] {
	const perChunk = chunkBytes / 28
	return func(yield func(*KeyRates) bool) {
		for len(rates) > 0 {
			n := min(perChunk, len(rates))
			part := &KeyRates{Keys: make([]uint64, n), Rates: make([]float64, n), Tokens: make([]float64, n), Homes: make([]uint32, n)}
			for i, r := range rates[:n] {
				part.Keys[i], part.Rates[i], part.Tokens[i], part.Homes[i] = r.Key, r.Rate, r.Tokens, uint32(r.Home)
			}
			if rates = rates[n:]; !yield(part) {
				return
			}
		}
	}
}

// EncodePlan returns the message for p without its table.
func EncodePlan(p *router.Plan) *Plan {
	return &Plan{
		Version: p.Version,
		Workers: mapped(p.Workers, encodeRef),
		Guard:   encodeGuard(p.Guard),
		Rest: &Rest{
			Order:    Order(p.Rest.Order),
			Among:    numbers[uint16, uint32](p.Rest.Among),
			Sample:   int64(p.Rest.Sample),
			Cost:     mapped(p.Rest.Cost, encodeTerm),
			Limit:    mapped(p.Rest.Limit, encodeTerm),
			Bound:    p.Rest.Bound,
			FirstTie: p.Rest.FirstTie,
		},
		Bind:     &Bind{Ttl: int64(p.Bind.TTL), Keep: p.Bind.Keep, MinCached: p.Bind.MinCached},
		Expected: cloned(p.Expected),
		Note:     Text(p.Note),
		Trial:    &Trial{Began: int64(p.Trial.Began), Rival: p.Trial.Rival, Rated: p.Trial.Rated, Lost: p.Trial.Lost},
		Speeds:   cloned(p.Speeds),
		Next:     int64(p.Next),
	}
}

func encodeTerm(t router.Term) *Term {
	return &Term{Feature: Feature(t.Feature), Weights: cloned(t.Weights)}
}

// EncodeTable yields the table's rows in messages of bounded size. The table
// must be well formed, which Plan.Validate checks.
func EncodeTable(t *router.Table) iter.Seq[*PlanTable] {
	return func(yield func(*PlanTable) bool) {
		for first := 0; first < len(t.Keys); {
			last, bytes := first, 0
			for last < len(t.Keys) && bytes < chunkBytes-router.MaxPlanWorkers*3 {
				bytes += 11 + 3*len(t.Of(last))
				last++
			}
			part := &PlanTable{
				Keys:    cloned(t.Keys[first:last]),
				Counts:  make([]uint32, last-first),
				Members: numbers[uint16, uint32](t.Members[t.Offsets[first]:t.Offsets[last]]),
			}
			for i := range part.Counts {
				part.Counts[i] = t.Offsets[first+i+1] - t.Offsets[first+i]
			}
			if first = last; !yield(part) {
				return
			}
		}
	}
}
