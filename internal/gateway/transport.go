package gateway

import (
	"context"
	"net"
	"net/http"
	"time"

	"gatewayd/internal/config"
)

// Dial makes a connection, as net.Dialer's DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// newTransport returns the connections to workers: kept alive and reused, no
// proxy, no redirects, no compression of its own.
func newTransport(t config.Timeouts, dial Dial) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{Timeout: t.Connect, KeepAlive: 15 * time.Second}).DialContext
	}
	return &http.Transport{
		DialContext:           dial,
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
