package heap

import (
	"runtime"
	"testing"
)

// TestRaise holds that the collector's goal is above the floor, unless the
// environment says otherwise.
func TestRaise(t *testing.T) {
	goal := func(env map[string]string) uint64 {
		defer Raise(func(name string) string { return env[name] })()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NextGC
	}
	usual := goal(map[string]string{"GOGC": "100"})
	if n := goal(nil); n < usual+floor {
		t.Errorf("the next collection is at %d bytes, want %d more than the usual %d", n, floor, usual)
	}
	if n := goal(map[string]string{"GOMEMLIMIT": "1GiB"}); n >= usual+floor {
		t.Errorf("with GOMEMLIMIT the next collection is at %d bytes, usual are %d", n, usual)
	}
}
