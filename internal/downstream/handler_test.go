package downstream

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gatewayd/internal/http1"
)

// A request that is made has come now, by HTTP/1 without TLS, and its context ends with
// the one it is made in, or by its own end, which says why.
func TestNewRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		r := NewRequest(ctx, http1.Request{Method: "GET"}, http.NoBody)
		if r.Method != "GET" || r.Body != http.NoBody || r.Major != 1 || r.TLS || !r.Arrived.Equal(time.Now()) || r.Context().Err() != nil {
			t.Errorf("%+v at %v", r, time.Now())
		}
		why := errors.New("over")
		if r.End()(why); context.Cause(r.Context()) != why || ctx.Err() != nil {
			t.Errorf("ended because of %v, the outer context: %v", context.Cause(r.Context()), ctx.Err())
		}
		r = NewRequest(ctx, http1.Request{}, http.NoBody)
		leave()
		if err := r.Context().Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("the context: %v", err)
		}
		r.End()(nil)
	})
}
