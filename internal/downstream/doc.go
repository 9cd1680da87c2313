// Package downstream serves clients over plain HTTP/1.1 on connections of its own, and
// has net/http serve all others: TLS, HTTP/2, and what is no TCP connection.
package downstream
