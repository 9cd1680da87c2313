package fleet

import (
	"net/url"
	"testing"
	"time"

	"gatewayd/internal/config"
	"gatewayd/pkg/router"
)

// TestSet: workers come and go; a known one without an address is gone, and no
// order of additions and removals leaves a stale one behind.
func TestSet(t *testing.T) {
	w := world{"a": vllm("llama"), "b": vllm("llama"), "c": vllm("qwen")}
	within(t, w, []Spec{spec("a")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		if err := f.Set([]Spec{spec("a"), spec("b"), spec("c")}); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		expect(t, "two", pool(f, "llama"), "a b")
		expect(t, "another model", pool(f, "qwen"), "c")
		gone := spec("a")
		gone.URL = nil
		for _, specs := range [][]Spec{{gone, spec("b")}, {spec("b"), spec("b"), gone}, {spec("b"), {Worker: router.Worker{ID: "a"}, URL: &url.URL{}}}} {
			if err := f.Set(specs); err == nil {
				t.Error("a worker without an address, or twice, is no error")
			}
			pass(time.Second)
			expect(t, "without an address", pool(f, "llama"), "b")
			expect(t, "without workers", pool(f, "qwen"), "none")
		}
		asked := w["a"].requests(healthPath)
		pass(time.Minute)
		if more := w["a"].requests(healthPath) - asked; more > 0 {
			t.Errorf("a worker that left was checked %d times", more)
		}
		f.Report("a", Refused)
		for range 10 {
			f.Set(nil)
			f.Set([]Spec{spec("a"), spec("b")})
		}
		pass(time.Second)
		expect(t, "back", pool(f, "llama"), "a b")
	})
}

// TestSetKeepsState: the same worker with other limits keeps its state; at
// another address it starts anew, as a new life.
func TestSetKeepsState(t *testing.T) {
	s := vllm("llama")
	s.body[metricsPath] = ""
	within(t, world{"a": s, "elsewhere": s}, []Spec{spec("a")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		limited := spec("a")
		limited.Worker.Concurrency = 5
		limited.Key = config.NewSecret("k")
		f.Set([]Spec{limited})
		pass(0)
		m := f.Snapshot().Pools()["llama"][0]
		if m.Down || m.Concurrency != 5 || m.Incarnation != 1 {
			t.Errorf("%+v", m.Member)
		}
		s.mu.Lock()
		if got := s.asked[len(s.asked)-1].Header.Get("Authorization"); got != "Bearer k" {
			t.Errorf("the new key is not used: %q", got)
		}
		s.mu.Unlock()
		renamed := limited
		renamed.Models = []string{"other"}
		f.Set([]Spec{renamed})
		pass(0)
		expect(t, "other models", pool(f, "llama")+", "+pool(f, "other"), "none, a")
		moved := limited
		moved.URL = &url.URL{Scheme: "http", Host: "elsewhere"}
		f.Set([]Spec{moved})
		pass(0)
		expect(t, "moved", pool(f, "llama")+", "+pool(f, "other"), ", none")
		pass(time.Second)
		m = f.Snapshot().Pools()["llama"][0]
		if m.Down || m.Incarnation != 2 || m.URL.Host != "elsewhere" {
			t.Errorf("%+v at %v", m.Member, m.URL)
		}
	})
}

func TestNewRefusesBadSpecs(t *testing.T) {
	if f, err := New([]Spec{spec("a"), spec("a")}, Options{Transport: world{}}); err == nil {
		f.Close()
		t.Error("a worker that is there twice is taken")
	}
}

func TestClosed(t *testing.T) {
	f, err := New([]Spec{spec("a")}, Options{Transport: world{"a": vllm("llama")}})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := f.Set([]Spec{spec("a"), spec("b")}); err == nil {
		t.Error("a closed fleet takes workers")
	}
	f.Report("a", Broken)
	f.Close()
}
