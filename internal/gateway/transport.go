package gateway

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/upstream"
)

// Dial makes a connection, as net.Dialer's DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// idleTimeout is how long an unused connection to a worker is kept, and idlePerHost
// how many of them.
const (
	idleTimeout = 30 * time.Second
	idlePerHost = 1024
)

// dialer returns dial, or else one over TCP.
func dialer(c config.Config, dial Dial) Dial {
	if dial == nil {
		dial = (&net.Dialer{Timeout: c.Timeouts.Connect, KeepAlive: 15 * time.Second}).DialContext
	}
	return dial
}

// newTransport returns the connections to workers: kept alive and reused, no
// proxy, no redirects, no compression of its own.
func newTransport(c config.Config, dial Dial) *upstream.Transport {
	return upstream.New(upstream.Options{
		Dial: dialer(c, dial), Next: newStandard(c, dial), IdleTimeout: idleTimeout, IdlePerHost: idlePerHost,
	})
}

// newStandard returns the same of the standard library, which knows TLS and HTTP/2.
func newStandard(c config.Config, dial Dial) *http.Transport {
	return &http.Transport{
		DialContext:           dialer(c, dial),
		TLSClientConfig:       &tls.Config{RootCAs: c.TLS.WorkerCAs},
		TLSHandshakeTimeout:   c.Timeouts.Connect,
		MaxIdleConns:          4096,
		MaxIdleConnsPerHost:   idlePerHost,
		IdleConnTimeout:       idleTimeout,
		DisableCompression:    true,
		ForceAttemptHTTP2:     true,
		ExpectContinueTimeout: time.Second,
	}
}
