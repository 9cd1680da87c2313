package gateway

import (
	"net/http"
	"testing"
	"time"

	"gatewayd/internal/config"
)

func TestBudget(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	var b budget
	spend := func(now time.Time) (n int) {
		for {
			if _, ok := b.retry(now); !ok {
				return n
			}
			n++
		}
	}
	if n := spend(at(0)); n != budgetLeast {
		t.Errorf("%d retries without a request", n)
	}
	if n := spend(at(9.9)); n != 0 {
		t.Errorf("%d more retries within ten seconds", n)
	}
	if n := spend(at(10)); n != budgetLeast {
		t.Errorf("%d retries ten seconds later", n)
	}
	for i := range 1000 {
		b.request(at(20 + float64(i)/200)) // five seconds
	}
	if n := spend(at(25)); n != 200 {
		t.Errorf("%d retries for 1000 requests", n)
	}
	giveBack, ok := b.retry(at(40))
	if !ok {
		t.Fatal("none left after a rest")
	}
	giveBack()
	if n := spend(at(40)); n != budgetLeast {
		t.Errorf("%d retries after one was given back", n)
	}
	if giveBack(); spend(at(50)) != budgetLeast {
		t.Error("what is given back late counts for another second")
	}
}

// When all fail, a request beyond the budget is not tried again: its client gets
// the first worker's answer.
func TestRetriesAreBounded(t *testing.T) {
	fail := func(w http.ResponseWriter, _ *http.Request, _ []byte) { w.WriteHeader(http.StatusServiceUnavailable) }
	one, two := newFake(t, fail), newFake(t, fail)
	w := newWorld(t, func(c *config.Config) { c.Breaker.Failures = 1000 }, one, two)
	requests := 0
	w.until("a retry to be denied", func() bool {
		for ok := requests > 0; ok; _, ok = w.gateway.budget.retry(time.Now()) {
		}
		requests++
		if resp, text := w.post("/v1/chat/completions", hello); resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s %s", resp.Status, text)
		}
		return w.metric("gatewayd_retries_denied_total") > 0
	})
	w.idle()
	calls, retried := len(one.seen())+len(two.seen()), w.metric("gatewayd_retries_total")
	if float64(calls) != float64(requests)+retried || retried < 1 {
		t.Errorf("%d calls for %d requests with %v retries", calls, requests, retried)
	}
}

// Every request that arrives counts for the budget.
func TestRequestsMakeTheBudget(t *testing.T) {
	f := newFake(t, answerJSON)
	w := newWorld(t, nil, f)
	const requests, retries = 75, 15
	for range requests {
		w.post("/v1/chat/completions", hello)
	}
	n := 0
	for _, ok := w.gateway.budget.retry(time.Now()); ok; _, ok = w.gateway.budget.retry(time.Now()) {
		n++
	}
	if n != retries {
		t.Errorf("%d retries for %d requests, want %d", n, requests, retries)
	}
	w.idle()
}
