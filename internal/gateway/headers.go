package gateway

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// hopByHop are the headers that belong to one connection (RFC 9110, 7.6.1),
// beside all that begin with Proxy-.
var hopByHop = []string{"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings"}

// secret are the client's credentials; no worker gets them.
var secret = []string{
	"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token",
	"Ocp-Apim-Subscription-Key", "Cookie", "Cookie2",
}

// ours are request headers that the gateway writes itself, or that a worker
// would take as the gateway's word.
var ours = []string{"Content-Length", "Accept-Encoding", "Traceparent", "Tracestate", "Expect", "Forwarded", "X-Real-Ip", "X-Data-Parallel-Rank"}

// Prefixes of header names.
const (
	own       = "X-Gatewayd-" // the gateway's own, in both directions
	proxies   = "Proxy-"
	forwarded = "X-Forwarded-" // what proxies before this one say of the client
)

// stopped are the header fields that do not pass to workers, with whether they pass
// to clients.
var stopped = stops()

func stops() map[string]bool {
	m := map[string]bool{}
	for _, name := range slices.Concat(secret, ours) {
		m[name] = true
	}
	for _, name := range hopByHop {
		m[name] = false
	}
	return m
}

// forward copies the header fields that may pass on, from a client to a worker or
// back, and returns what they were copied to. Fields that Connection names do not
// pass.
func forward(to, from http.Header, toWorker bool) http.Header {
	var drop map[string]bool
	for _, v := range from["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			if drop == nil {
				drop = map[string]bool{}
			}
			drop[textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	for name, values := range from {
		back, known := stopped[name]
		switch {
		case drop[name], known && (toWorker || !back), strings.HasPrefix(name, own), strings.HasPrefix(name, proxies):
		case toWorker && strings.HasPrefix(name, forwarded), !toWorker && name == "Set-Cookie":
		default:
			to[name] = values
		}
	}
	return to
}

// tooMuch refuses a request whose header fields are larger than they may be. The
// server beneath cuts off those that are far larger, in words of its own.
func (s *Server) tooMuch(r *http.Request) *apiError {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, v := range values {
			size += len(name) + len(v) + len(": \r\n")
		}
	}
	if limit := int(s.cfg.Limits.HeaderBytes); size > limit {
		return &apiError{status: http.StatusRequestHeaderFieldsTooLarge, kind: "invalid_request_error", code: "headers_too_large",
			message: fmt.Sprintf("the request's header fields are larger than limits.header_bytes, %d bytes", limit)}
	}
	return nil
}

// sessionField is a header field that may name a session.
type sessionField struct {
	name      string // as configured: keys have it
	canonical string // as headers have it
}

func sessionFields(names []string) []sessionField {
	out := make([]sessionField, len(names))
	for i, name := range names {
		out[i] = sessionField{name, http.CanonicalHeaderKey(name)}
	}
	return out
}
