package fleet

import (
	"context"
	"net/http"

	"gatewayd/internal/config"
)

// Probe asks one worker once for its health, models and metrics, and returns
// what it says; Up means that its health check has passed. Each question has
// the time that p allows it. A nil transport is one of Probe's own.
func Probe(ctx context.Context, s Spec, p config.Probe, transport http.RoundTripper) Status {
	if transport == nil {
		own := NewTransport(p.Timeout, nil)
		defer own.CloseIdleConnections()
		transport = own
	}
	p.Successes = 1
	w, c := newWorker(s, life{}), newClient(transport)
	if err := c.check(ctx, &s, p.Timeout); err != nil {
		w.failed(err, p)
		return w.status()
	}
	w.passed(now(), p, false)
	if l, err := c.models(ctx, &s, p.Timeout); err != nil {
		w.relooked(err)
	} else {
		w.listed(l)
	}
	at := now()
	if _, sample, err := c.find(ctx, &s, p.MetricsTimeout); err != nil {
		w.nameless()
		w.unsampled(err)
	} else {
		w.sampled(sample, at)
	}
	return w.status()
}
