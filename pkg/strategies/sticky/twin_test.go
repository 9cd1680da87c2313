package sticky

import (
	"slices"
	"testing"
	"time"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/internal/script"
)

// pinned is where the twin remembers a key.
type pinned struct {
	worker string
	until  router.Time
}

// TestLikeTwin compares with a map of keys. New keys go down their rendezvous
// order, since the spread allows any.
func TestLikeTwin(t *testing.T) {
	for _, escape := range []string{"off", "soft", "hard"} {
		o := router.Options{"escape": escape, "mincached": "0", "spread": "1000", "ttl": "20s", "factor": "1.25", "slack": "2"}
		script.TwinWithMemory(t, Definition(), o, func() (script.Rule, func(script.Seen, string)) {
			pins := map[uint64]pinned{}
			rule := func(s script.Seen) []string { return expect(s, pins, escape != "off") }
			told := func(s script.Seen, worker string) { pin(s, pins, worker, escape == "soft") }
			return rule, told
		})
	}
}

func expect(s script.Seen, pins map[uint64]pinned, guarded bool) []string {
	above := func(w router.Worker) bool {
		total := 0
		for _, m := range s.Up {
			total += m.Load.InFlight
		}
		return guarded && float64(w.Load.InFlight+1) > max(2, 1.25*float64(total+1)/float64(len(s.Up)))
	}
	key := s.Request.Key
	p, ok := pins[key]
	for _, w := range s.Workers {
		if key != 0 && ok && w.ID == p.worker && p.until > s.Now && !above(w) {
			return []string{w.ID}
		}
	}
	if key == 0 {
		key = s.Seed
	}
	open := slices.DeleteFunc(slices.Clone(s.Workers), above)
	if len(open) == 0 {
		open = s.Workers
	}
	first := slices.MaxFunc(open, func(a, b router.Worker) int {
		if router.Rendezvous(key, router.HashID(a.ID)) < router.Rendezvous(key, router.HashID(b.ID)) {
			return -1
		}
		return 1
	})
	return []string{first.ID}
}

func pin(s script.Seen, pins map[uint64]pinned, worker string, keep bool) {
	key := s.Request.Key
	if key == 0 {
		return
	}
	p, ok := pins[key]
	if keep && ok && p.until > s.Now {
		worker = p.worker
	}
	pins[key] = pinned{worker, s.Now.Add(20 * time.Second)}
}
