// Package downstream serves clients over HTTP/1.1, plain and over TLS, on connections of
// its own, and has net/http serve all others: HTTP/2, and what is no TCP connection.
package downstream
