package fleet

import (
	"testing"
	"time"
)

// TestRefusedRequests: requests whose connections are refused take a worker
// down at once, as failed health checks would, and it is checked at once.
func TestRefusedRequests(t *testing.T) {
	for _, o := range []Outcome{Refused, Unreachable} {
		s := vllm("llama")
		within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
			pass(time.Second)
			s.set(func(s *server) { s.refuse = true })
			f.Report("w", o)
			pass(0)
			expect(t, "after one", pool(f, "llama"), "w") // one by the request, one by the check that it caused
			f.Report("w", o)
			pass(0)
			expect(t, "after three", pool(f, "llama"), "-w")
			s.set(func(s *server) { s.refuse = false })
			pass(time.Second)
			expect(t, "a second later", pool(f, "llama"), "w")
		})
	}
}

// TestRefusedOnce: one refused connection of a worker that is well does no harm.
func TestRefusedOnce(t *testing.T) {
	within(t, world{"w": vllm("llama")}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		before := f.Snapshot()
		for range 100 {
			f.Report("w", Refused)
			f.Report("w", Served)
			pass(200 * time.Millisecond)
		}
		if f.Snapshot() != before {
			t.Errorf("it has become %s", pool(f, "llama"))
		}
	})
}

// TestBrokenRequests: a worker whose health checks pass while its requests fail
// leaves rotation, gets one request at a time on trial, and is back in full only
// after a real success.
func TestBrokenRequests(t *testing.T) {
	within(t, world{"w": vllm("llama")}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		for range defaults.Breaker.Failures - 1 {
			f.Report("w", Broken)
		}
		f.Report("w", Served)
		for range defaults.Breaker.Failures - 1 {
			f.Report("w", Broken)
		}
		pass(0)
		expect(t, "not in a row", pool(f, "llama"), "w")
		f.Report("w", Broken)
		pass(0)
		expect(t, "in a row", pool(f, "llama"), "-w")
		expect(t, "breaker", f.Workers()[0].Breaker, "open")
		pass(defaults.Breaker.Cooldown - time.Millisecond)
		expect(t, "cooling down", pool(f, "llama"), "-w")
		pass(200 * time.Millisecond)
		expect(t, "on trial", pool(f, "llama"), "w?")
		f.Report("w", Broken)
		pass(2*defaults.Breaker.Cooldown - time.Millisecond)
		expect(t, "failed the trial", pool(f, "llama"), "-w")
		pass(200 * time.Millisecond)
		expect(t, "on trial again", pool(f, "llama"), "w?")
		pass(time.Hour)
		expect(t, "health checks alone", pool(f, "llama"), "w?")
		f.Report("w", Served)
		pass(0)
		expect(t, "after a real success", pool(f, "llama"), "w")
	})
}

// TestReportsOfNothing: what says nothing changes nothing.
func TestReportsOfNothing(t *testing.T) {
	s := vllm("llama")
	within(t, world{"w": s}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		before, asked := f.Snapshot(), s.requests(healthPath)
		for range 1000 {
			f.Report("w", Served)
			f.Report("gone", Broken)
			f.Report("w", Outcome(99))
		}
		pass(0)
		if f.Snapshot() != before || s.requests(healthPath) != asked {
			t.Error("a report without meaning had an effect")
		}
		if Broken.String() != "broken" || Outcome(99).String() != "unknown" {
			t.Error(Broken, Outcome(99))
		}
	})
}

// TestReportsAreCheap: a served request at a worker that is well takes no lock.
func TestReportsAreCheap(t *testing.T) {
	within(t, world{"w": vllm("llama")}, []Spec{spec("w")}, func(t *testing.T, f *Fleet) {
		pass(time.Second)
		w := (*f.workers.Load())["w"]
		w.mu.Lock()
		f.Report("w", Served)
		w.mu.Unlock()
	})
}
