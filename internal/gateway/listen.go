package gateway

import (
	"crypto/tls"
	"net/http"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
)

// Serves sets up a server of the API by the configuration: HTTP/1.1, HTTP/2 over
// TLS and, for clients that begin with it, without, and the server's TLSConfig,
// which stays nil for an API without TLS.
func Serves(s *http.Server, c config.Config) {
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	s.MaxHeaderBytes = 2 * int(c.Limits.HeaderBytes) // those between are refused in the API's own words
	if c.TLS.Certificate != nil {
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*c.TLS.Certificate}, NextProtos: []string{"h2", "http/1.1"}}
	}
}

// Refuse answers a request that the server cannot read, nor the ID that it may have.
func Refuse(w downstream.Writer, status int, why string) {
	w.Header().Set(requestIDField, requestID(nil))
	(&apiError{status: status, kind: "invalid_request_error", code: "malformed_request", message: why, last: true}).write(w)
}
