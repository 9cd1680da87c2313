package wire

import (
	"fmt"
	"time"

	"gatewayd/pkg/router"
)

// DecodeRoute returns the input for m, without its workers.
func DecodeRoute(m *RouteTask) router.Input {
	r := m.GetRequest()
	return router.Input{
		Now:  router.Time(m.GetNow()),
		Seed: m.GetSeed(),
		Request: router.Request{
			ID:           r.GetId(),
			Model:        r.GetModel(),
			Adapter:      r.GetAdapter(),
			Tenant:       r.GetTenant(),
			Key:          r.GetKey(),
			PromptTokens: int(r.GetPromptTokens()),
			MaxTokens:    int(r.GetMaxTokens()),
			Priority:     int(r.GetPriority()),
			Blocks:       cloned(r.GetBlocks()),
			BlockTokens:  int(r.GetBlockTokens()),
		},
		Fleet:  m.GetFleet(),
		Cached: numbers[int64, int](m.GetCached()),
		Facts:  mapped(m.GetFacts(), decodeFact),
	}
}

func decodeFact(m *Fact) router.Fact {
	return router.Fact{
		FactKey: router.FactKey{Family: m.GetFamily(), Key: m.GetKey()},
		Value:   cloned(m.GetValue()),
	}
}

// DecodeEvents returns the events of m.
func DecodeEvents(m *ObserveTask) []router.Event { return mapped(m.GetEvents(), decodeEvent) }

func decodeEvent(m *Event) router.Event {
	u := m.GetUsage()
	return router.Event{
		Number:  m.GetNumber(),
		Kind:    router.EventKind(m.GetKind()),
		At:      router.Time(m.GetAt()),
		Request: m.GetRequest(),
		Key:     m.GetKey(),
		Worker:  decodeRef(m.GetWorker()),
		Attempt: int(m.GetAttempt()),
		By:      m.GetBy(),
		Usage: router.Usage{
			PromptTokens: int(u.GetPromptTokens()),
			OutputTokens: int(u.GetOutputTokens()),
			CachedTokens: int(u.GetCachedTokens()),
			Joules:       u.GetJoules(),
		},
	}
}

// Bounds of a decision, so that nonsense reaches neither receipts nor stores.
const (
	maxReason = 128 // bytes
	maxWrites = 16  // facts
	maxFamily = 256 // bytes of a fact's family
)

// DecodeDecision returns the decision of m, an answer about that many workers.
func DecodeDecision(m *Decision, workers int) (router.Decision, error) {
	d := router.Decision{
		Verdict:    router.Verdict(m.GetVerdict()),
		Reason:     m.GetReason(),
		RetryAfter: time.Duration(m.GetRetryAfter()),
		Writes: mapped(m.GetWrites(), func(w *Write) router.Write {
			return router.Write{Fact: decodeFact(w.GetFact()), TTL: time.Duration(w.GetTtl())}
		}),
	}
	if _, ok := Verdict_name[int32(m.GetVerdict())]; !ok {
		return router.Decision{}, fmt.Errorf("unknown verdict %d", m.GetVerdict())
	}
	if n := len(d.Reason); n > maxReason {
		return router.Decision{}, fmt.Errorf("reason of %d bytes, at most %d are allowed", n, maxReason)
	}
	if n := len(d.Writes); n > maxWrites {
		return router.Decision{}, fmt.Errorf("%d writes, at most %d are allowed", n, maxWrites)
	}
	for _, w := range d.Writes {
		switch n, family := len(w.Value), len(w.Family); {
		case n > router.MaxFact:
			return router.Decision{}, fmt.Errorf("fact of %d bytes, at most %d are allowed", n, router.MaxFact)
		case family == 0 || family > maxFamily:
			return router.Decision{}, fmt.Errorf("fact whose family has a name of %d bytes, 1 to %d are allowed", family, maxFamily)
		case w.TTL <= 0:
			return router.Decision{}, fmt.Errorf("fact of family %q with a time to live of %v, which must be positive", w.Family, w.TTL)
		}
	}
	if h := m.GetHold(); h != nil {
		guard, err := decodeGuard(h.GetGuard())
		if err != nil {
			return router.Decision{}, fmt.Errorf("hold guard: %w", err)
		}
		d.Hold = router.Hold{TTL: time.Duration(h.GetTtl()), Guard: guard}
	}
	var err error
	if d.Ranking, err = decodeRanking(m, workers); err != nil {
		return router.Decision{}, err
	}
	return d, nil
}

func decodeRanking(m *Decision, workers int) ([]router.Placement, error) {
	// A placement is a worker in a role at a rank; there are few of both.
	const perWorker = 64
	ws, roles, ranks := m.GetWorkers(), m.GetRoles(), m.GetRanks()
	switch n := len(ws); {
	case n > perWorker*workers:
		return nil, fmt.Errorf("ranking of %d placements for %d workers", n, workers)
	case len(roles) != 0 && len(roles) != n:
		return nil, fmt.Errorf("ranking has %d workers but %d roles", n, len(roles))
	case len(ranks) != 0 && len(ranks) != n:
		return nil, fmt.Errorf("ranking has %d workers but %d ranks", n, len(ranks))
	case n == 0:
		return nil, nil
	}
	ranking := make([]router.Placement, len(ws))
	for i, w := range ws {
		if int64(w) >= int64(workers) {
			return nil, fmt.Errorf("ranking names worker %d of %d eligible ones", w, workers)
		}
		ranking[i].Worker = int(w)
		if len(roles) > 0 {
			if _, ok := Role_name[int32(roles[i])]; !ok {
				return nil, fmt.Errorf("unknown role %d", roles[i])
			}
			ranking[i].Role = router.Role(roles[i])
		}
		if len(ranks) > 0 {
			ranking[i].Rank = int(ranks[i])
		}
	}
	return ranking, nil
}
