package gateway

import (
	"net/http"
	"strings"
	"testing"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
)

// The class that a client names is a priority; one that nobody knows is an error
// that names those there are.
func TestPriority(t *testing.T) {
	c := config.Default()
	x := &exchange{Server: &Server{cfg: c, priorities: "X-Gatewayd-Priority"}, r: &downstream.Request{}}
	for class, want := range map[string]int{"": 0, "high": 10, "normal": 0, "low": -10} {
		x.r.Header.Set("X-Gatewayd-Priority", class)
		if got, e := x.priority(); e != nil || got != want {
			t.Errorf("%q is priority %d, %v; want %d", class, got, e, want)
		}
	}
	x.r.Header.Set("X-Gatewayd-Priority", "9999")
	if got, e := x.priority(); e == nil || e.status != http.StatusBadRequest || !strings.Contains(e.message, "it may be high, low, normal") {
		t.Errorf("an unknown class is priority %d, %v", got, e)
	}
	x.priorities = ""
	if got, e := x.priority(); e != nil || got != 0 {
		t.Errorf("without a header for it: %d, %v", got, e)
	}
}
