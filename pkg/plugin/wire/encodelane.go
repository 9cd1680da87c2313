package wire

import "gatewayd/pkg/router"

// EncodeRoute returns the task for in, without what depends on the lane's
// table of workers: id, loads, eligible slots and peers' ages.
func EncodeRoute(in *router.Input) *RouteTask {
	return &RouteTask{
		Now:     int64(in.Now),
		Seed:    in.Seed,
		Request: encodeRequest(&in.Request),
		Fleet:   in.Fleet,
		Cached:  numbers[int, int64](in.Cached),
		Facts:   mapped(in.Facts, encodeFact),
	}
}

func encodeRequest(r *router.Request) *Request {
	return &Request{
		Id:           Text(r.ID),
		Model:        Text(r.Model),
		Adapter:      Text(r.Adapter),
		Tenant:       Text(r.Tenant),
		Key:          r.Key,
		PromptTokens: int64(r.PromptTokens),
		MaxTokens:    int64(r.MaxTokens),
		Priority:     int64(r.Priority),
		Blocks:       cloned(r.Blocks),
		BlockTokens:  int64(r.BlockTokens),
	}
}

func encodeFact(f router.Fact) *Fact {
	return &Fact{Family: Text(f.Family), Key: f.Key, Value: cloned(f.Value)}
}

// EncodeEvents returns the task that reports events.
func EncodeEvents(events []router.Event) *ObserveTask {
	return &ObserveTask{Events: mapped(events, encodeEvent)}
}

func encodeEvent(e router.Event) *Event {
	return &Event{
		Number:  e.Number,
		Kind:    EventKind(e.Kind),
		At:      int64(e.At),
		Request: Text(e.Request),
		Key:     e.Key,
		Worker:  encodeRef(e.Worker),
		Attempt: int64(e.Attempt),
		By:      Text(e.By),
		Usage: &Usage{
			PromptTokens: int64(e.Usage.PromptTokens),
			OutputTokens: int64(e.Usage.OutputTokens),
			CachedTokens: int64(e.Usage.CachedTokens),
			Joules:       e.Usage.Joules,
		},
	}
}

// EncodeDecision returns the message for d.
func EncodeDecision(d router.Decision) *Decision {
	m := &Decision{
		Verdict:    Verdict(d.Verdict),
		Workers:    mapped(d.Ranking, func(p router.Placement) uint32 { return uint32(p.Worker) }),
		Reason:     Text(d.Reason),
		RetryAfter: int64(d.RetryAfter),
		Writes: mapped(d.Writes, func(w router.Write) *Write {
			return &Write{Fact: encodeFact(w.Fact), Ttl: int64(w.TTL)}
		}),
	}
	if d.Hold != (router.Hold{}) {
		m.Hold = &Hold{Ttl: int64(d.Hold.TTL), Guard: encodeGuard(d.Hold.Guard)}
	}
	for _, p := range d.Ranking {
		if p.Role != router.Serve {
			m.Roles = mapped(d.Ranking, func(p router.Placement) Role { return Role(p.Role) })
			break
		}
	}
	for _, p := range d.Ranking {
		if p.Rank != 0 {
			m.Ranks = mapped(d.Ranking, func(p router.Placement) uint32 { return uint32(p.Rank) })
			break
		}
	}
	return m
}
