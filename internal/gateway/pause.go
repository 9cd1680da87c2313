package gateway

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"gatewayd/internal/http1"
	"gatewayd/internal/pool"
)

// paused takes in that a worker refused the request because it has too much to do.
func (x *exchange) paused(a *pool.Assignment, h http1.Header) {
	asked := retryAfter(h, time.Now())
	a.Pause(asked)
	x.comeBack = sooner(x.comeBack, asked)
}

// soonest has a refusal that is relayed say when the first of all workers is back, if
// that is sooner than it says itself.
func (x *exchange) soonest(h *http1.Header, pause time.Duration) {
	least, own := sooner(x.comeBack, pause), retryAfter(*h, time.Now())
	if least > 0 && (own == 0 || seconds(least) < seconds(own)) {
		h.Set("Retry-After", strconv.Itoa(seconds(least)))
	}
}

// sooner returns the lesser of two times to wait; 0 is unknown.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// longestRetryAfter bounds what a worker may say, so that it fits a Duration.
const longestRetryAfter = 365 * 24 * time.Hour

// retryAfter reads a Retry-After (RFC 9110, section 10.2.3), which is in seconds or a
// date; 0 if there is none that lies ahead.
func retryAfter(h http1.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		return time.Duration(min(n, uint64(longestRetryAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longestRetryAfter)
	}
	return 0
}
