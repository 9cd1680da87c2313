package gateway

import (
	"net/http"
	"net/textproto"
	"strings"
)

// hopByHop are the headers that belong to one connection (RFC 9110, 7.6.1).
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authenticate", "Proxy-Authorization"}

// secret are the client's credentials; no worker gets them.
var secret = []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "Cookie", "Cookie2"}

// own is the prefix of the gateway's own headers; clients cannot send them.
const own = "X-Gatewayd-"

// forwardable copies the headers that may pass on, from a client to a worker
// or back. Headers that Connection names do not pass.
func forwardable(from http.Header, toWorker bool) http.Header {
	to := make(http.Header, len(from)+4)
	drop := map[string]bool{}
	for _, v := range from["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			drop[textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	for name, values := range from {
		if !drop[name] && !strings.HasPrefix(name, own) {
			to[name] = values
		}
	}
	for _, name := range hopByHop {
		delete(to, name)
	}
	if toWorker {
		for _, name := range secret {
			delete(to, name)
		}
		for _, name := range []string{"Content-Length", "Traceparent", "Tracestate", "Expect", "Forwarded"} {
			delete(to, name)
		}
	} else {
		delete(to, "Set-Cookie")
	}
	return to
}
