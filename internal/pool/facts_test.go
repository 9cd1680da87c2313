package pool

import (
	"context"
	"testing"
	"time"

	"gatewayd/pkg/router"
)

// A strategy finds what it wrote with the next request of the key, also when no
// store is shared; what it wrote has an end.
func TestFactsOfAGatewayAlone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var found []string
		link := routing("counts", func(_ context.Context, in router.Input) (router.Decision, error) {
			value := ""
			for _, f := range in.Facts {
				value += f.Family + "=" + string(f.Value)
			}
			found = append(found, value)
			d := to(0)
			d.Writes = []router.Write{{Fact: router.Fact{FactKey: router.FactKey{Family: "seen", Key: in.Request.Key}, Value: []byte(in.Request.ID)}, TTL: time.Minute}}
			return d, nil
		})
		link.Info.Facts = []string{"seen", "budget"}
		w := newPool(t, func(c *Config) { c.Core.FetchDeadline = time.Millisecond }, link)
		defer w.Close()
		w.workers(0)
		for _, r := range []struct {
			id   string
			key  uint64
			wait time.Duration
			want string
		}{
			{"a", 1, time.Second, ""},
			{"b", 1, time.Second, "seen=a"},
			{"c", 2, time.Second, ""},
			{"d", 0, 2 * time.Minute, ""}, // without affinity there is no key to keep it by
			{"e", 1, time.Second, ""},     // its time is over
		} {
			w.acquire(router.Request{ID: r.id, Key: r.key}).complete()
			if got := found[len(found)-1]; got != r.want {
				t.Errorf("request %s comes with %q, want %q", r.id, got, r.want)
			}
			pass(r.wait)
		}
		if n := w.metric("gatewayd_state_sync_failures_total"); n != 0 {
			t.Errorf("%v exchanges failed", n)
		}
	})
}
