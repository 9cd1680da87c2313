package gateway

import (
	"net/http"
	"net/textproto"
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
		if !drop[name] && !strings.HasPrefix(name, own) && !strings.HasPrefix(name, proxies) {
			to[name] = values
		}
	}
	for _, name := range hopByHop {
		delete(to, name)
	}
	if !toWorker {
		delete(to, "Set-Cookie")
		return to
	}
	for _, name := range secret {
		delete(to, name)
	}
	for _, name := range ours {
		delete(to, name)
	}
	for name := range to {
		if strings.HasPrefix(name, forwarded) {
			delete(to, name)
		}
	}
	return to
}
