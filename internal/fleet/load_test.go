package fleet

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// loads draws the loads of a pool: running/waiting/KV share, and their age.
func loads(f *Fleet, pool string) string {
	var out []string
	for _, l := range f.Loads(pool) {
		text := l.ID
		for _, g := range []router.Gauge{l.Running, l.Waiting, l.KVUsed} {
			if !g.Known() {
				text += " ?"
			} else if age := g.Age(now()); age > 3*time.Second {
				text += fmt.Sprintf(" %v, %v old", g.Value, age.Round(10*time.Second))
			} else {
				text += fmt.Sprintf(" %v", g.Value)
			}
		}
		out = append(out, text)
	}
	return fmt.Sprint(out)
}

// TestStaleLoad: while one worker's metrics hang another's jump shows within an
// interval; the hung one keeps its figures, which grow old, and is not zero.
func TestStaleLoad(t *testing.T) {
	a, b := vllm("llama"), vllm("llama")
	within(t, world{"a": a, "b": b}, []Spec{spec("a"), spec("b")}, func(t *testing.T, f *Fleet) {
		pass(5 * time.Second)
		expect(t, "at first", loads(f, "llama"), "[a 1 2 0.5 b 1 2 0.5]")
		a.set(func(s *server) { s.hang[metricsPath] = true })
		pass(time.Minute)
		b.set(func(s *server) {
			s.body[metricsPath] = "vllm:num_requests_running 8\nvllm:num_requests_waiting 90\nvllm:kv_cache_usage_perc 0.9\nprocess_start_time_seconds 1700000000\n"
		})
		pass(defaults.Probe.MetricsInterval * 11 / 10)
		expect(t, "later", loads(f, "llama"), "[a 1, 1m0s old 2, 1m0s old 0.5, 1m0s old b 8 90 0.9]")
		expect(t, "both serve", pool(f, "llama"), "a b")
		a.set(func(s *server) { s.hang[metricsPath] = false })
		pass(defaults.Probe.MetricsInterval*11/10 + defaults.Probe.MetricsTimeout)
		pass(time.Minute)
		expect(t, "in the end", loads(f, "llama"), "[a 1 2 0.5 b 8 90 0.9]")
	})
}

// TestNoMetrics: a worker without metrics serves, with unknown load, and is
// asked for them rarely; one that gets them is seen.
func TestNoMetrics(t *testing.T) {
	s := vllm("llama")
	s.body[metricsPath] = ""
	within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(10 * time.Minute)
		expect(t, "pool", pool(f, "llama"), "w")
		expect(t, "loads", loads(f, "llama"), "[w ? ? ?]")
		if n := s.requests(metricsPath); n > 25 {
			t.Errorf("%d questions for metrics in 10 min", n)
		}
		s.set(func(s *server) {
			s.body[metricsPath] = "llamacpp:requests_processing 3\nllamacpp:requests_deferred 0\n"
		})
		pass(unmetered * defaults.Probe.MetricsInterval)
		expect(t, "loads", loads(f, "llama"), "[w 3 0 ?]")
		expect(t, "engine", f.Workers()[0].Engine, "llamacpp")
	})
}

// TestLargeMetrics: metrics that are too large are read more and more rarely, the
// status says why and when they will be again, and once they are small they are seen.
func TestLargeMetrics(t *testing.T) {
	s := vllm("llama")
	small, large := s.body[metricsPath], strings.Repeat("# a comment\n", maxMetrics/12+1)
	within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(10 * time.Second)
		s.set(func(s *server) { s.body[metricsPath] = large })
		before := s.requests(metricsPath)
		pass(10 * time.Minute)
		if n := s.requests(metricsPath) - before; n < 6 || n > 11 {
			t.Errorf("%d readings in 10 min", n)
		}
		wait := defaults.Probe.MetricsInterval << longWait
		expect(t, "the reason", f.Workers()[0].Metrics, fmt.Sprintf("GET /metrics: metrics are larger than %d bytes; they are read again in %v", maxMetrics, wait))
		expect(t, "pool", pool(f, "llama"), "w")
		s.set(func(s *server) { s.body[metricsPath] = small })
		pass(wait)
		expect(t, "loads", loads(f, "llama"), "[w 1 2 0.5]")
		expect(t, "the reason", f.Workers()[0].Metrics, "")
		s.set(func(s *server) { s.body[metricsPath] = large })
		pass(2 * defaults.Probe.MetricsInterval)
		expect(t, "again", f.Workers()[0].Metrics, fmt.Sprintf("GET /metrics: metrics are larger than %d bytes; they are read again in %v", maxMetrics, 2*defaults.Probe.MetricsInterval))
	})
}

// TestTensorRT: an engine whose metrics are at another path is found there.
func TestTensorRT(t *testing.T) {
	s := vllm("llama")
	s.body[metricsPath] = `[{"iter":1}]`
	s.body[tensorrtPath] = "trtllm_num_requests_running 2\ntrtllm_kv_cache_max_blocks 100\ntrtllm_kv_cache_tokens_per_block 32\n"
	within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(5 * time.Second)
		expect(t, "loads", loads(f, "llama"), "[w 2 ? ?]")
		if kv := f.Snapshot().Pools()["llama"][0].KVTokens; kv != 3200 {
			t.Errorf("KV cache of %d tokens", kv)
		}
		before := s.requests(metricsPath)
		pass(time.Minute)
		if more := s.requests(metricsPath) - before; more > 0 {
			t.Errorf("the JSON was read %d times more", more)
		}
	})
}

// TestCapacity: the KV cache's size comes from the metrics unless configured.
func TestCapacity(t *testing.T) {
	info := "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"1000\"} 1\n"
	a, b := vllm("llama"), vllm("llama")
	a.body[metricsPath], b.body[metricsPath] = info, info
	fixed := spec("b")
	fixed.Worker.KVTokens = 7
	within(t, world{"a": a, "b": b}, []Spec{spec("a"), fixed}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		members := f.Snapshot().Pools()["llama"]
		if members[0].KVTokens != 16000 || members[1].KVTokens != 7 {
			t.Errorf("%d and %d tokens", members[0].KVTokens, members[1].KVTokens)
		}
	})
}

// TestRestarts: a new life is seen from a new start time, from counters that
// went back, and, where a worker says nothing of itself, from a refused
// connection; in each case before it gets requests again.
func TestRestarts(t *testing.T) {
	metrics := func(text string) func(s *server) {
		return func(s *server) { s.body[metricsPath] = text }
	}
	life := func(f *Fleet) string {
		m := f.Snapshot().Pools()["llama"][0]
		return fmt.Sprintf("%s %d", pool(f, "llama"), m.Incarnation)
	}
	for _, c := range []struct {
		name          string
		before, after func(s *server)
		away          bool
		first, last   string
	}{
		{"start time", metrics("process_start_time_seconds 1700000000\n"), metrics("process_start_time_seconds 1700000100\n"), false,
			"w 1700000000", "w 1700000100"},
		{"start time, and away", metrics("process_start_time_seconds 1700000000\n"), metrics("process_start_time_seconds 1700000100\n"), true,
			"w 1700000000", "w 1700000100"},
		{"away, but the same", metrics("process_start_time_seconds 1700000000\n"), metrics("process_start_time_seconds 1700000000\n"), true,
			"w 1700000000", "w 1700000000"},
		{"counters", metrics("llamacpp:prompt_tokens_total 5\nllamacpp:tokens_predicted_total 5\n"),
			metrics("llamacpp:prompt_tokens_total 2\nllamacpp:tokens_predicted_total 0\n"), false, "w 1", "w 2"},
		{"nothing said, not away", metrics(""), metrics(""), false, "w 1", "w 1"},
		{"nothing said, away", metrics(""), metrics(""), true, "w 1", "w 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := vllm("llama")
			c.before(s)
			var seen []string
			o := Options{Transport: world{"w": s}, OnChange: func(s *Snapshot) {
				if m := s.Pools()["llama"]; len(m) > 0 && !m[0].Down {
					seen = append(seen, fmt.Sprint(m[0].Incarnation))
				}
			}}
			run(t, []Spec{spec("w")}, o, func(t *testing.T, f *Fleet) {
				pass(5 * time.Second)
				expect(t, "before", life(f), c.first)
				seen = nil
				if c.away {
					s.set(func(s *server) { s.refuse = true })
					pass(10 * time.Second)
					if !f.Snapshot().Pools()["llama"][0].Down {
						t.Error("it is up while it refuses")
					}
				}
				s.set(func(s *server) { s.refuse = false; c.after(s) })
				pass(10 * time.Second)
				expect(t, "after", life(f), c.last)
				if c.away && len(seen) > 0 && "w "+seen[0] != c.last {
					t.Errorf("it was up again as life %s before it was %s", seen[0], c.last)
				}
			})
		})
	}
}

// TestOtherModels: a new life may serve other models.
func TestOtherModels(t *testing.T) {
	s := vllm("llama")
	within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(5 * time.Second)
		s.set(func(s *server) {
			s.body[metricsPath] = "process_start_time_seconds 1700000100\n"
			s.body[modelsPath] = `{"data":[{"id":"qwen","max_model_len":5}]}`
		})
		pass(4 * time.Second) // less than the interval of model lists
		expect(t, "old", pool(f, "llama"), "none")
		expect(t, "new", pool(f, "qwen"), "w")
		s.set(func(s *server) {
			s.body[metricsPath] = "process_start_time_seconds 1700000200\n"
			s.body[modelsPath] = `{"data":[{"id":"qwen","max_model_len":7}]}`
		})
		pass(4 * time.Second)
		expect(t, "list", string(f.Snapshot().Models()[0].JSON), `{"id":"qwen","object":"model","max_model_len":7,"created":0,"owned_by":"gatewayd"}`)
	})
}

// TestUnlisted: a worker that is up but whose list cannot be read keeps the
// models that it had.
func TestUnlisted(t *testing.T) {
	s := vllm("llama")
	within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(5 * time.Second)
		s.set(func(s *server) { s.status[modelsPath] = http.StatusInternalServerError })
		pass(time.Minute)
		expect(t, "pool", pool(f, "llama"), "w")
	})
}

// TestCacheCounters: what engines of one worker counted is added up, a counter that
// is not there is unknown, and a new life has none of the old one's.
func TestCacheCounters(t *testing.T) {
	s := vllm("llama")
	body := func(text string) { s.set(func(s *server) { s.body[metricsPath] = text }) }
	body("vllm:prefix_cache_queries_total{engine=\"0\"} 50\nvllm:prefix_cache_queries_total{engine=\"1\"} 20\nvllm:prefix_cache_hits_total{engine=\"0\"} 30\n")
	counters := func(f *Fleet) string {
		l := f.Loads("llama")[0]
		return fmt.Sprint(l.CacheQueries, l.CacheHits)
	}
	within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(5 * time.Second)
		expect(t, "two engines", counters(f), "{70 true} {30 true}")
		body("vllm:prefix_cache_queries_total 90\n")
		pass(5 * time.Second)
		expect(t, "no hits", counters(f), "{90 true} {0 false}")
		body("")
		s.set(func(s *server) { s.refuse = true })
		pass(10 * time.Second)
		s.set(func(s *server) { s.refuse = false })
		pass(10 * time.Second)
		expect(t, "a new life", counters(f), "{0 false} {0 false}")
	})
}
