package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"gatewayd/internal/fleet"
	"gatewayd/internal/http1"
	"gatewayd/internal/telemetry"
	"gatewayd/internal/upstream"
)

// sending is a request on its way to a worker.
type sending struct {
	x      *exchange
	member *fleet.Member
	header http1.Header
	watch  watch

	asked            time.Time // for a connection
	reused, answered atomic.Bool
	sent             atomic.Int64 // when its last byte was written, ns since the exchange began; 0: not yet
}

// sentAt returns when the worker had the request; now, if it answered before.
func (s *sending) sentAt() time.Time {
	if sent := s.sent.Load(); sent > 0 {
		return s.x.start.Add(time.Duration(sent))
	}
	return time.Now()
}

// send makes the request. A kept-alive connection that the worker has closed in
// the meantime is replaced once, by a new one: nothing of the request was
// answered then, and a pool may hold more of such connections.
func (x *exchange) send(ctx context.Context, s *sending) (*upstream.Response, error) {
	if x.peeked.stream {
		s.watch.enter(connecting, s.asked.Add(x.cfg.Timeouts.ResponseHead), errHead)
	}
	resp, err := x.transport.Do(ctx, s.request(), s)
	if err != nil && s.reused.Load() && !s.answered.Load() && ctx.Err() == nil {
		s.asked = time.Now()
		resp, err = upstream.Via(ctx, x.fresh, s.request(), s)
	}
	if err != nil {
		return nil, err
	}
	plain(resp)
	return resp, nil
}

// request returns the request as the worker gets it.
func (s *sending) request() *upstream.Request {
	x := s.x
	pieces, length := x.pieces(s.member), 0
	for _, piece := range pieces {
		length += len(piece)
	}
	out := &struct {
		request upstream.Request
		url     url.URL
		body    replay
	}{url: endpoint(s.member.URL, x.op.path), body: replay{left: pieces}}
	out.url.RawQuery = withoutSecrets(x.r.Query)
	out.request = upstream.Request{
		Method: http.MethodPost, URL: &out.url, Header: s.header, Host: s.member.URL.Host,
		Length: int64(length), Body: &out.body, Again: func() io.ReadCloser { return &replay{left: x.pieces(s.member)} },
	}
	return &out.request
}

// Connected notes that there is a connection.
func (s *sending) Connected(reused bool) {
	s.reused.Store(reused)
	s.x.telemetry.Metrics.Overhead(telemetry.StageConnect, time.Since(s.asked))
}

// Answered notes that the worker has begun to answer.
func (s *sending) Answered() { s.answered.Store(true) }

// Wrote notes that the worker has the whole request: its time runs from here.
func (s *sending) Wrote(err error) {
	if err != nil {
		return
	}
	x, now := s.x, time.Now()
	s.sent.Store(int64(now.Sub(x.start)))
	t := x.cfg.Timeouts
	switch {
	case !x.peeked.stream:
	case t.FirstToken < t.ResponseHead:
		s.watch.enter(waiting, now.Add(t.FirstToken), errFirst)
	default:
		s.watch.enter(waiting, now.Add(t.ResponseHead), errHead)
	}
}

// endpoint joins the worker's base URL and the API path, without doubling the
// version.
func endpoint(base *url.URL, path string) url.URL {
	u := *base
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") + path
	u.RawPath = ""
	return u
}

// secretParameters are the query parameters that clients send keys in.
var secretParameters = map[string]bool{"key": true, "api_key": true, "api-key": true, "apikey": true, "access_token": true, "token": true}

// withoutSecrets takes the client's keys out of a query, and leaves the rest as
// it is.
func withoutSecrets(query string) string {
	if query == "" {
		return ""
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err == nil && !secretParameters[strings.ToLower(plain)] {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}

// unreachable says which kind of failed connection the error is, if it is one.
func unreachable(err error) (fleet.Outcome, bool) {
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fleet.Refused, true
	case errors.As(err, &certificate):
		return fleet.Unreachable, true
	case errors.As(err, &network) && network.Op != "dial":
		return 0, false
	case network != nil, tooLate(err): // at the connection, or at TLS
		return fleet.Unreachable, true
	}
	return 0, false
}

// tooLate reports whether the error is a limit of time.
func tooLate(err error) bool {
	var limit net.Error
	return errors.As(err, &limit) && limit.Timeout()
}
