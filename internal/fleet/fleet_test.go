package fleet

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

// TestComesUp: a worker gets no request before its health checks have passed
// as often as required, although it listens and lists its models.
func TestComesUp(t *testing.T) {
	s := vllm("llama")
	s.status[healthPath] = http.StatusServiceUnavailable
	atOnce := defaults.Probe
	atOnce.SlowStart = 0
	run(t, []Spec{spec("w")}, Options{Transport: world{"w": s}, Probe: atOnce}, func(t *testing.T, f *Fleet) {
		pass(time.Minute)
		expect(t, "loading", pool(f, "llama"), "")
		expect(t, "trouble", f.Workers()[0].Trouble, "GET /health: status 503: it is not ready yet")
		s.set(func(s *server) { s.status[healthPath] = 0 })
		pass(defaults.Probe.Interval*11/10 + time.Second)
		asked := s.requests(healthPath)
		expect(t, "after the required successes", pool(f, "llama"), "w")
		pass(3 * time.Second)
		if more := s.requests(healthPath) - asked; more > 1 {
			t.Errorf("%d checks in 3 s of a worker that is well", more)
		}
	})
}

// TestComesUpAtOnce: a fleet of healthy workers is up within a second, and a
// worker whose metrics hang waits for them only once.
func TestComesUpAtOnce(t *testing.T) {
	slow := vllm("llama")
	slow.hang[metricsPath] = true
	within(t, world{"a": vllm("llama"), "b": slow}, []Spec{spec("a"), spec("b")}, func(t *testing.T, f *Fleet) {
		pass(200 * time.Millisecond)
		expect(t, "quick", pool(f, "llama"), "a")
		pass(defaults.Probe.MetricsTimeout)
		expect(t, "slow", pool(f, "llama"), "a b")
	})
}

// TestStaticModels: configured models are known from the first moment, and a
// worker that lists nothing serves them.
func TestStaticModels(t *testing.T) {
	s := vllm("")
	s.status[healthPath], s.status[modelsPath] = http.StatusServiceUnavailable, http.StatusNotFound
	w := spec("w")
	w.Models = []string{"m"}
	within(t, world{"w": s}, []Spec{w}, func(t *testing.T, f *Fleet) {
		expect(t, "first", pool(f, "m"), "")
		pass(time.Second)
		expect(t, "loading", pool(f, "m"), "")
		s.set(func(s *server) { s.status[healthPath] = 0 })
		pass(time.Second)
		expect(t, "then", pool(f, "m"), "w")
	})
}

// TestGoesDown: a worker that hangs, answers wrongly or refuses goes down after
// the configured failures, and its pool stays known.
func TestGoesDown(t *testing.T) {
	for name, break1 := range map[string]func(s *server){
		"hangs":   func(s *server) { s.hang[healthPath] = true },
		"errs":    func(s *server) { s.status[healthPath] = 500 },
		"refuses": func(s *server) { s.refuse = true },
	} {
		t.Run(name, func(t *testing.T) {
			s := vllm("llama")
			within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
				pass(time.Second)
				expect(t, "before", pool(f, "llama"), "w")
				s.set(break1)
				pass(defaults.Probe.Interval*11/10 + 3*defaults.Probe.Timeout + 300*time.Millisecond)
				expect(t, "after", pool(f, "llama"), "-w")
				if _, _, ok := f.Snapshot().Lookup("llama"); !ok {
					t.Error("a model whose workers are down is not known")
				}
				s.set(func(s *server) { s.refuse, s.hang, s.status = false, nil, nil })
				pass(defaults.Probe.Interval + time.Second)
				expect(t, "again", pool(f, "llama"), "w")
			})
		})
	}
}

// TestAdapters: an adapter is found where it is loaded, within one reading of
// the model lists, and at once when a request meets a 404.
func TestAdapters(t *testing.T) {
	with := `{"data":[{"id":"llama"},{"id":"sql","parent":"llama"}]}`
	without := `{"data":[{"id":"llama"}]}`
	list := func(s *server, text string) { s.set(func(s *server) { s.body[modelsPath] = text }) }
	a, b := vllm("llama"), vllm("llama")
	list(a, with)
	within(t, world{"a": a, "b": b}, []Spec{spec("a"), spec("b")}, func(t *testing.T, f *Fleet) {
		adapters := func() string {
			var out []string
			for _, m := range f.Snapshot().Pools()["llama"] {
				out = append(out, fmt.Sprint(m.ID, m.Adapters))
			}
			pool, adapter, ok := f.Snapshot().Lookup("sql")
			return fmt.Sprint(out, pool, adapter, ok)
		}
		pass(time.Second)
		expect(t, "on a", adapters(), "[a[sql] b[]]llamasqltrue")
		list(b, with)
		pass(defaults.Probe.ModelsInterval * 11 / 10)
		expect(t, "on both", adapters(), "[a[sql] b[sql]]llamasqltrue")
		list(a, without)
		f.Report("a", Missing)
		pass(time.Second)
		expect(t, "on b, after a 404", adapters(), "[a[] b[sql]]llamasqltrue")
		before := a.requests(modelsPath)
		for range 1000 {
			f.Report("a", Missing)
		}
		pass(2 * time.Second)
		if more := a.requests(modelsPath) - before; more > 3 {
			t.Errorf("%d readings of the list in 2 s of many 404s", more)
		}
	})
}

// TestOnChange: snapshots are numbered and handed over in order, the newest is
// never missed, and nothing is handed over while nothing changes.
func TestOnChange(t *testing.T) {
	var got []*Snapshot
	s := vllm("llama")
	run(t, []Spec{spec("w")}, Options{Transport: world{"w": s}, OnChange: func(s *Snapshot) { got = append(got, s) }}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		n := len(got)
		if n == 0 || got[n-1] != f.Snapshot() || got[0].Number != 1 {
			t.Fatalf("%d snapshots, the last one is not the newest", n)
		}
		for i := 1; i < n; i++ {
			if got[i].Number <= got[i-1].Number {
				t.Errorf("snapshot %d after %d", got[i].Number, got[i-1].Number)
			}
		}
		s.set(func(s *server) {
			s.body[metricsPath] = "vllm:num_requests_running 9\nprocess_start_time_seconds 1700000000\n"
		})
		pass(10 * time.Minute)
		if len(got) != n {
			t.Errorf("%d snapshots while nothing but the load changed", len(got)-n)
		}
		s.set(func(s *server) { s.refuse = true })
		pass(time.Minute)
		if len(got) != n+1 {
			t.Errorf("%d snapshots for one change", len(got)-n)
		}
	})
}

// TestConfiguredCarbon: an intensity that the configuration states does not
// grow old; one that was observed does.
func TestConfiguredCarbon(t *testing.T) {
	c := config.Default()
	c.Zones = map[string]config.Zone{"paris": {GramsPerKWh: 34}}
	c.Workers = []config.Worker{{URL: "http://a:80", Zone: "paris"}, {URL: "http://b:80", Zone: "paris"}}
	w := world{"a:80": vllm("llama"), "b:80": vllm("llama")}
	specs, err := Specs(c, now())
	if err != nil {
		t.Fatal(err)
	}
	specs[1].Worker.Carbon.Source = "feed"
	rare := defaults.Probe
	rare.Interval, rare.MetricsInterval, rare.ModelsInterval = 10*time.Minute, 10*time.Minute, 10*time.Minute
	run(t, specs, Options{Transport: w, Probe: rare}, func(t *testing.T, f *Fleet) {
		begin := now()
		specs[1].Worker.Carbon.GramsPerKWh.At = begin
		f.Set(specs)
		pass(10 * time.Hour)
		m := f.Snapshot().Pools()["llama"]
		fixed, observed := m[0].Carbon.GramsPerKWh, m[1].Carbon.GramsPerKWh
		if fixed.Age(now()) > renewal || fixed.Value != 34 || observed.At != begin {
			t.Errorf("ages %v and %v", fixed.Age(now()), observed.Age(now()))
		}
	})
}

func TestSpecs(t *testing.T) {
	c := config.Default()
	c.Zones = map[string]config.Zone{"paris": {GramsPerKWh: 34, Marginal: true}}
	c.Workers = []config.Worker{
		{URL: "http://a:8000/v1", Zone: "paris", Concurrency: 3, KVTokens: 4, Energy: config.Energy{DecodeJoules: 1, PUE: 1.2},
			Models: []string{"m"}, Headers: map[string]string{"x-team": "search"}, Key: config.NewSecret("k")},
		{URL: "https://b", ID: "w"},
	}
	specs, err := Specs(c, 7)
	if err != nil || len(specs) != 2 {
		t.Fatal(specs, err)
	}
	want := router.Worker{
		ID: "a:8000", Zone: "paris", Concurrency: 3, KVTokens: 4, Energy: router.Energy{DecodeJoules: 1, PUE: 1.2},
		Carbon: router.Carbon{GramsPerKWh: router.Gauge{Value: 34, At: 7}, Marginal: true, Source: "configuration"},
	}
	a := specs[0]
	h := http.Header{}
	a.Decorate(h)
	if a.Worker != want || a.URL.String() != "http://a:8000" || a.Models[0] != "m" || h.Get("X-Team") != "search" || h.Get("Authorization") != "Bearer k" {
		t.Errorf("%+v, headers %v", a, h)
	}
	if b := specs[1]; b.Worker.ID != "w" || b.Worker.Carbon.GramsPerKWh.Known() || b.Models != nil {
		t.Errorf("%+v", b)
	}
}
