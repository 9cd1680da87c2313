package gateway

import (
	"fmt"
	"net/http"
	"net/textproto"
	"strings"

	"gatewayd/internal/downstream"
	"gatewayd/internal/http1"
)

// hopByHop reports whether a header field belongs to one connection (RFC 9110, 7.6.1),
// as do all that begin with Proxy-.
func hopByHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings":
		return true
	}
	return false
}

// secret reports whether a request's field is one of the client's credentials; no worker
// gets them.
func secret(name string) bool {
	switch name {
	case "Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "X-Auth-Token", "X-Access-Token", "X-Amz-Security-Token",
		"Ocp-Apim-Subscription-Key", "Cookie", "Cookie2":
		return true
	}
	return false
}

// ours reports whether the gateway writes a request's field itself, or a worker would
// take it as the gateway's word.
func ours(name string) bool {
	switch name {
	case "Content-Length", "Accept-Encoding", "Traceparent", "Tracestate", "Expect", "Forwarded", "X-Real-Ip", "X-Data-Parallel-Rank":
		return true
	}
	return strings.HasPrefix(name, forwarded)
}

// Prefixes of header names.
const (
	own       = "X-Gatewayd-" // the gateway's own, in both directions
	proxies   = "Proxy-"
	forwarded = "X-Forwarded-" // what proxies before this one say of the client
)

// forward adds the header fields that may pass on, from a client to a worker or back,
// and returns what they were added to. Fields that Connection names do not pass.
func forward(to, from http1.Header, toWorker bool) http1.Header {
	var drop map[string]bool
	for _, f := range from {
		if f.Name != "Connection" || f.Value == "keep-alive" { // the most usual one
			continue
		}
		for name := range strings.SplitSeq(f.Value, ",") {
			if name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)); hopByHop(name) {
				continue // it does not pass anyway
			}
			if drop == nil {
				drop = map[string]bool{}
			}
			drop[name] = true
		}
	}
	for _, f := range from {
		name := f.Name
		switch {
		case drop[name], hopByHop(name), strings.HasPrefix(name, own), strings.HasPrefix(name, proxies):
		case toWorker && (secret(name) || ours(name)), !toWorker && name == "Set-Cookie", name == requestIDField:
		default:
			to = append(to, f)
		}
	}
	return to
}

// tooMuch refuses a request whose header fields are larger than they may be. The
// server beneath cuts off those that are far larger, in words of its own.
func (s *Server) tooMuch(r *downstream.Request) *apiError {
	size := len(r.Target)
	for _, f := range r.Header {
		size += len(f.Name) + len(f.Value) + len(": \r\n")
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
