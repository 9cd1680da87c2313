package fleet

import (
	"strings"
	"testing"
	"time"
)

// TestReturnsFromTrial: a worker that has served its trial gets its requests little
// by little, like one that has come up, and is not flooded by all that see it idle.
func TestReturnsFromTrial(t *testing.T) {
	within(t, world{"a": vllm("llama"), "b": vllm("llama")}, []Spec{spec("a"), spec("b")}, func(t *testing.T, f *Fleet) {
		pass(time.Minute)
		for range defaults.Breaker.Failures {
			f.Report("b", Broken)
		}
		pass(defaults.Breaker.Cooldown + 200*time.Millisecond)
		expect(t, "on trial", pool(f, "llama"), "a b?")
		for range defaults.Breaker.Probes {
			f.Report("b", Served)
		}
		var seen []string
		for range 200 {
			pass(100 * time.Millisecond)
			if s := admitted(f, "llama"); len(seen) == 0 || s != seen[len(seen)-1] {
				seen = append(seen, s)
			}
		}
		got := strings.Join(seen, ", ")
		if !strings.HasPrefix(got, "a0 b4, ") || !strings.HasSuffix(got, ", a0 b32, a0 b64, a0 b0") {
			t.Errorf("it returns: %s", got)
		}
	})
}
