package upstream

import (
	"context"
	"net/http"
	"net/http/httptrace"
)

// Via has another transport make the request.
func Via(ctx context.Context, next http.RoundTripper, r *http.Request, h Hooks) (*http.Response, error) {
	return next.RoundTrip(r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { h.Connected(i.Reused) },
		WroteRequest:         func(i httptrace.WroteRequestInfo) { h.Wrote(i.Err) },
		GotFirstResponseByte: h.Answered,
	})))
}
