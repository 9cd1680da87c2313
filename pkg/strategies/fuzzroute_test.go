package strategies

import (
	"strings"
	"testing"
	"unicode/utf8"

	"gatewayd/pkg/router"
)

// FuzzRoute holds every strategy that is asked for single requests to this: any
// input that a core may show gives a ranking of workers that were shown, each
// once, whatever was observed before.
func FuzzRoute(f *testing.F) {
	f.Add([]byte("requests, one after the other, with workers and what is cached there"))
	for seed := range byte(8) {
		data := make([]byte, 600)
		for i := range data {
			data[i] = byte(router.Mix(uint64(seed)<<40+uint64(i)) % 255)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range Catalog() {
			for _, o := range []router.Options{nil, {"temperature": "0.5"}, {"pick": "draw", "recent": "1", "load": "1", "tokens": "1", "running": "1"}, {"prefix": "64"}} {
				instance, err := d.New(o, 1)
				if err != nil {
					continue // an option of another strategy
				}
				if strategy, ok := instance.(router.Strategy); ok && instance.Info().Routes {
					fuzzRoute(t, d.Name, strategy, &source{data})
				}
			}
		}
	})
}

func fuzzRoute(t *testing.T, name string, strategy router.Strategy, s *source) {
	for range 20 {
		if o, ok := strategy.(router.Observer); ok && s.byte()%3 == 0 {
			kind := router.EventKind(s.byte() % 12)
			o.Observe([]router.Event{{Kind: kind, Key: uint64(s.byte()), At: router.Time(s.float()), Worker: router.WorkerRef{ID: "w" + string('0'+rune(s.byte()%9))}, Usage: router.Usage{OutputTokens: int(s.byte()) - 1}}})
		}
		in := router.Input{Now: router.Time(s.float() * 1e9), Seed: uint64(s.byte()), Request: router.Request{Key: uint64(s.byte() % 8), PromptTokens: int(s.byte()) << (s.byte() % 20), BlockTokens: int(s.byte() % 20)}}
		for range s.byte() % 30 {
			in.Request.Blocks = append(in.Request.Blocks, uint64(s.byte()))
		}
		in.Workers = s.input().Fleet.Workers
		for i := range in.Workers {
			l := &in.Workers[i].Load
			l.InFlight, l.QueuedTokens = int(s.byte()), int(s.byte())<<(s.byte()%16)
			l.Running, l.Waiting, l.KVUsed = s.gauge(), s.gauge(), s.gauge()
			in.Cached = append(in.Cached, min(int(s.byte())<<(s.byte()%20), in.Request.PromptTokens))
		}
		if len(in.Workers) == 0 {
			continue // a core asks nobody then
		}
		d := strategy.Route(in)
		seen := map[int]bool{}
		for _, p := range d.Ranking {
			if p.Worker < 0 || p.Worker >= len(in.Workers) || seen[p.Worker] || p.Role != router.Serve {
				t.Fatalf("%s ranks %v of %d workers", name, d.Ranking, len(in.Workers))
			}
			seen[p.Worker] = true
		}
		if d.Verdict != router.Route || len(d.Ranking) == 0 || d.Reason == "" {
			t.Fatalf("%s: decision %+v", name, d)
		}
	}
}

// FuzzOptions holds every strategy to this: any options give an instance that
// plans, or an error of one line per option that names it.
func FuzzOptions(f *testing.F) {
	f.Add("qcap", "-1", "slots", "NaN")
	f.Add("mode", "paper", "interval", "1s")
	f.Add("ttl", "99999h", "escape", "")
	f.Add("", "", "temperature", "1e400")
	f.Add("threshold", "0.5", "choices", "99999999999999999999")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		for _, d := range Catalog() {
			o := router.Options{name1: value1, name2: value2}
			instance, err := d.New(o, 1)
			if err != nil {
				text := err.Error()
				if utf8.ValidString(name1+value1+name2+value2) && !strings.Contains(text, "option") || text == "" {
					t.Fatalf("%s %q: error %q names no option", d.Name, o, text)
				}
				continue
			}
			planner, ok := instance.(router.Planner)
			if !ok || !instance.Info().Plans {
				continue
			}
			plan, err := planner.Plan(router.PlanInput{Fleet: router.Fleet{Workers: []router.Worker{{ID: "a"}, {ID: "b"}}}, Rates: []router.KeyRate{{Key: 1, Rate: 2}}})
			if err == nil {
				err = plan.Validate()
			}
			if err != nil {
				t.Fatalf("%s %q: %v", d.Name, o, err)
			}
		}
	})
}
