package fleet

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/http1"
)

// A fleet that takes another one's place knows from the start what that one knew
// of the same workers, and of others nothing.
func TestFleetFromAnother(t *testing.T) {
	server := func(from <-chan struct{}) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-from:
			case <-r.Context().Done():
			}
			if r.URL.Path == "/v1/models" {
				fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			}
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	open, later := make(chan struct{}), make(chan struct{})
	close(open)
	c := config.Config{Workers: []config.Worker{{URL: server(open), ID: "stays"}, {URL: server(open), ID: "moves"}, {URL: server(open), ID: "leaves"}}}
	probe := config.Default().Probe
	probe.Interval, probe.Timeout, probe.Successes = 50*time.Millisecond, time.Minute, 1
	start := func(from *Fleet) *Fleet {
		specs, err := Specs(c, now())
		if err != nil {
			t.Fatal(err)
		}
		f, err := New(specs, Options{Probe: probe, From: from})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		return f
	}
	checked := func(f *Fleet) {
		t.Helper()
		for limit := time.After(time.Minute); !f.Checked(); {
			select {
			case <-limit:
				t.Fatalf("not all workers were checked: %+v", f.Workers())
			case <-time.After(time.Millisecond):
			}
		}
	}
	old := start(nil)
	checked(old)
	for _, w := range old.Workers() {
		if !w.Up || fmt.Sprint(w.Models) != "[m]" {
			t.Errorf("checked, but %+v", w)
		}
	}
	before := old.Workers()
	c.Workers = []config.Worker{{URL: c.Workers[0].URL, ID: "stays", Key: config.NewSecret("new")}, {URL: server(later), ID: "moves"}, {URL: "http://127.0.0.1:1", ID: "comes"}}
	next := start(old)
	old.Close()
	members := next.Snapshot().Pools()["m"]
	if len(members) != 1 || members[0].ID != "stays" || members[0].Down || members[0].Incarnation != before[2].Incarnation {
		t.Errorf("at its start it has %+v", members)
	}
	var header http1.Header
	members[0].Decorate(&header)
	if header.Get("Authorization") != "Bearer new" {
		t.Errorf("headers %v", header)
	}
	close(later)
	checked(next)
	for _, w := range next.Workers() {
		if up := w.ID != "comes"; w.Up != up {
			t.Errorf("checked, but %+v", w)
		}
	}
}

// What is drained while another fleet is tried stays drained when that one takes over,
// also where only that one has the worker.
func TestDrainWhileAnotherIsTried(t *testing.T) {
	w := world{"a": vllm("llama"), "b": vllm("llama"), "c": vllm("llama")}
	run(t, []Spec{spec("a"), spec("b")}, Options{Transport: w}, func(t *testing.T, old *Fleet) {
		pass(5 * time.Second)
		next, err := New([]Spec{spec("a"), spec("b"), spec("c")}, Options{Transport: w, From: old})
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		pass(5 * time.Second)
		for _, id := range []string{"a", "b", "c"} {
			if !old.Drain(id, true) {
				t.Errorf("nobody has %s", id)
			}
		}
		old.Drain("b", false)
		if old.Drain("d", true) {
			t.Error("somebody has d")
		}
		pass(time.Second)
		expect(t, "the old one", pool(old, "llama"), "-a b")
		old.Close()
		pass(time.Second)
		expect(t, "the new one", pool(next, "llama"), "-a b -c")
	})
}
