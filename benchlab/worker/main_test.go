package worker

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatewayd/benchlab/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eagerClock is a clock whose timers fire at once: it jumps to their time.
type eagerClock struct {
	mu  sync.Mutex
	now time.Time
}

func newEagerClock() *eagerClock { return &eagerClock{now: time.Unix(1_700_000_000, 0)} }

func (c *eagerClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *eagerClock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	fired := make(chan time.Time, 1)
	fired <- c.now
	return fired, func() bool { return false }
}

// frozenClock is a clock whose timers never fire.
type frozenClock struct{}

func (frozenClock) Now() time.Time { return time.Unix(1_700_000_000, 0) }

func (frozenClock) Timer(time.Duration) (<-chan time.Time, func() bool) {
	return nil, func() bool { return true }
}

func profile(t testing.TB) engine.Profile {
	t.Helper()
	p, err := engine.ProfileByName("llama-3.1-8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// start returns a running worker, which ends with the test.
func start(t testing.TB, c Config) *Server {
	t.Helper()
	if c.Models == nil {
		c.Models = []string{"llama"}
	}
	if c.Profile.Name == "" {
		c.Profile = profile(t)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
