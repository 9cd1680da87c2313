package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/http1"
)

// admitted draws what the members of a pool admit for now: ID and number, ! if
// it is down.
func admitted(f *Fleet, pool string) string {
	var out []string
	for _, m := range f.Snapshot().Pools()[pool] {
		text := fmt.Sprint(m.ID, m.Admit)
		if m.Down {
			text += "!"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// TestSlowStart: a worker that comes up beside others, new or returned, gets its
// requests little by little; those that are there when the gateway starts, and
// one that is alone, get them at once.
func TestSlowStart(t *testing.T) {
	a, b := vllm("llama"), vllm("llama")
	within(t, world{"a": a, "b": b, "c": vllm("llama")}, []Spec{spec("a"), spec("b")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		expect(t, "at the start", admitted(f, "llama"), "a0 b0")
		pass(time.Minute)
		b.set(func(s *server) { s.refuse = true })
		pass(15 * time.Second)
		expect(t, "one is away", admitted(f, "llama"), "a0 b0!")
		b.set(func(s *server) { s.refuse = false })
		var seen []string
		for range 200 {
			pass(100 * time.Millisecond)
			if s := admitted(f, "llama"); len(seen) == 0 || s != seen[len(seen)-1] {
				seen = append(seen, s)
			}
		}
		expect(t, "it returns", strings.Join(seen, ", "), "a0 b0!, a0 b4, a0 b8, a0 b16, a0 b32, a0 b64, a0 b0")
		f.Set([]Spec{spec("a"), spec("b"), spec("c")})
		pass(time.Second)
		expect(t, "a new one", admitted(f, "llama"), "a0 b0 c4")
		a.set(func(s *server) { s.refuse = true })
		b.set(func(s *server) { s.refuse = true })
		pass(8 * time.Second)
		expect(t, "alone", admitted(f, "llama"), "a0! b0! c0")
	})
}

// TestFlapping: under a steady stream of requests to a worker that is good for
// 1 s of every 10, its breaker opens ever more rarely, and a trial lets through
// what is configured and no more.
func TestFlapping(t *testing.T) {
	for _, probes := range []int{1, 3} {
		breaker := defaults.Breaker
		breaker.Probes = probes
		run(t, []Spec{spec("w")}, Options{Transport: world{"w": vllm("llama")}, Breaker: breaker}, func(t *testing.T, f *Fleet) {
			pass(time.Second)
			changes, last, most := 0, f.Snapshot(), 0
			for i := range 3 * 60 * 200 { // three minutes of 200 requests a second, each of no time
				outcome := Broken
				if i%2000 < 200 {
					outcome = Served
				}
				if m := f.Snapshot().Pools()["llama"][0]; !m.Down {
					most = max(most, m.Admit)
					f.Report("w", outcome)
				}
				pass(5 * time.Millisecond)
				if s := f.Snapshot(); s != last {
					last, changes = s, changes+1
				}
			}
			s := f.Workers()[0]
			if s.Openings < 5 || s.Openings > 20 || changes > 25*(1+probes) || most != probes {
				t.Errorf("%d probes: it opened %d times, %d snapshots, at most %d on trial", probes, s.Openings, changes, most)
			}
			if got := f.Snapshot().Pools()["llama"][0].Openings; got != s.Openings {
				t.Errorf("a member tells of %d openings, its status of %d", got, s.Openings)
			}
		})
	}
}

// TestDrain: a worker that drains, by its spec or an operator, gets no requests
// and is known to be well; it comes back as it went.
func TestDrain(t *testing.T) {
	within(t, network("a", "b"), []Spec{spec("a"), spec("b")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		if !f.Drain("a", true) || f.Drain("gone", true) {
			t.Error("it is not known which workers there are")
		}
		pass(0)
		expect(t, "drained", pool(f, "llama"), "-a b")
		s := f.Workers()[0]
		if !s.Draining || s.Up || s.Trouble != "" {
			t.Errorf("%+v", s)
		}
		f.Set([]Spec{spec("a"), spec("b")})
		pass(time.Hour)
		expect(t, "an hour later", pool(f, "llama"), "-a b")
		f.Drain("a", false)
		pass(0)
		expect(t, "back", pool(f, "llama"), "a b")
		drained := spec("b")
		drained.Drain = true
		f.Set([]Spec{spec("a"), drained})
		pass(0)
		expect(t, "by its spec", pool(f, "llama"), "a -b")
		f.Set([]Spec{spec("a"), spec("b")})
		pass(0)
		expect(t, "back", pool(f, "llama"), "a b")
	})
}

// TestRanks: two nodes that own ranks 0-3 and 4-7 of one engine are eight workers.
// Each is asked for by its rank only, has its own figures, and a rank that the
// node does not have is reported.
func TestRanks(t *testing.T) {
	c := config.Default()
	c.Workers = []config.Worker{{URL: "http://a:1", Ranks: "0-3", KVLoad: 2}, {URL: "http://b:1", Ranks: "4-7"}}
	specs, err := Specs(c, now())
	if err != nil {
		t.Fatal(err)
	}
	node := func(first int) *server {
		s := vllm("llama")
		var text strings.Builder
		for rank := first; rank < first+4; rank++ {
			fmt.Fprintf(&text, "vllm:num_requests_running{engine=\"%d\"} %d\nvllm:num_requests_waiting{engine=\"%[1]d\"} 0\nvllm:cache_config_info{engine=\"%[1]d\",block_size=\"16\",num_gpu_blocks=\"10\"} 1\n", rank, 10+rank)
		}
		s.body[metricsPath] = text.String()
		return s
	}
	a, b := node(0), node(4)
	within(t, world{"a:1": a, "b:1": b}, specs, func(t *testing.T, f *Fleet) {
		pass(5 * time.Second)
		expect(t, "ranks", loads(f, "llama"), "[a:1@0 10 0 ? a:1@1 11 0 ? a:1@2 12 0 ? a:1@3 13 0 ? b:1@4 14 0 ? b:1@5 15 0 ? b:1@6 16 0 ? b:1@7 17 0 ?]")
		for i, m := range f.Snapshot().Pools()["llama"] {
			var h http1.Header
			m.Decorate(&h)
			if got := fmt.Sprint(h.Values(rankHeader)); got != fmt.Sprintf("[%d]", i) {
				t.Errorf("%s is asked for by rank %s", m.ID, got)
			}
			if want := map[bool]int{true: 320, false: 0}[i < 4]; m.KVTokens != 160 || m.KVLimit != want {
				t.Errorf("%s: cache of %d tokens, limit %d", m.ID, m.KVTokens, m.KVLimit)
			}
		}
		for host, s := range map[string]*server{"a:1": a, "b:1": b} {
			s.set(func(s *server) {
				for _, r := range s.asked {
					if rank := r.Header.Get(rankHeader); strings.Contains("0123", rank) != (host == "a:1") {
						t.Fatalf("%s was asked for rank %s", host, rank)
					}
				}
			})
		}
		b.set(func(s *server) { s.body[metricsPath] = a.body[metricsPath] })
		pass(5 * time.Second)
		for _, s := range f.Workers()[4:] {
			if !strings.Contains(s.Metrics, "rank \"3\" and not of rank "+s.ID[4:]) {
				t.Errorf("%s: %q", s.ID, s.Metrics)
			}
		}
	})
}

// TestKVLimit: the bound on tokens in flight is a multiple of the KV cache.
func TestKVLimit(t *testing.T) {
	c := config.Default()
	c.Workers = []config.Worker{{URL: "http://w:80", KVTokens: 1000, KVLoad: 1.5}}
	specs, err := Specs(c, now())
	if err != nil {
		t.Fatal(err)
	}
	within(t, network("w:80"), specs, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		if m := f.Snapshot().Pools()["llama"][0]; m.KVLimit != 1500 {
			t.Errorf("%d tokens", m.KVLimit)
		}
	})
}
