package gateway

import (
	"net"
	"net/http"
	"time"

	"gatewayd/internal/config"
)

// newTransport returns the connections to workers: kept alive and reused, no
// proxy, no redirects, no compression of its own.
func newTransport(t config.Timeouts) *http.Transport {
	dialer := &net.Dialer{Timeout: t.Connect, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext:           dialer.DialContext,
		TLSHandshakeTimeout:   t.Connect,
		MaxIdleConns:          4096,
		MaxIdleConnsPerHost:   1024,
		IdleConnTimeout:       30 * time.Second,
		DisableCompression:    true,
		ForceAttemptHTTP2:     true,
		ExpectContinueTimeout: time.Second,
		WriteBufferSize:       32 << 10,
		ReadBufferSize:        32 << 10,
	}
}
