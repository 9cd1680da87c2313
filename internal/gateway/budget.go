package gateway

import (
	"sync"
	"time"
)

// Retries are bounded by a share of the requests of the last seconds, so that
// workers that fail under load do not get more of it.
const (
	budgetSeconds = 10
	budgetShare   = 5  // one retry for so many requests
	budgetLeast   = 10 // retries that are allowed in any case
)

// budget counts requests and retries of the last budgetSeconds, by the second.
// It is safe for concurrent use.
type budget struct {
	mu      sync.Mutex
	seconds [budgetSeconds]struct {
		at                int64 // Unix time
		requests, retries int
	}
}

// request counts a request that arrives at now.
func (b *budget) request(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seconds[b.slot(now)].requests++
}

// retry reports whether one more attempt is within the budget, and counts it. If
// no worker is found for it, giveBack takes it off again.
func (b *budget) retry(now time.Time) (giveBack func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	slot := b.slot(now)
	requests, retries := 0, 0
	for _, s := range b.seconds {
		if now.Unix()-s.at < budgetSeconds {
			requests += s.requests
			retries += s.retries
		}
	}
	if retries >= max(budgetLeast, requests/budgetShare) {
		return nil, false
	}
	b.seconds[slot].retries++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if s := &b.seconds[slot]; s.at == now.Unix() {
			s.retries--
		}
	}, true
}

// slot returns where the second of now is counted, emptied of an older one.
func (b *budget) slot(now time.Time) int {
	at := now.Unix()
	slot := int(at % budgetSeconds)
	if s := &b.seconds[slot]; s.at != at {
		s.at, s.requests, s.retries = at, 0, 0
	}
	return slot
}
