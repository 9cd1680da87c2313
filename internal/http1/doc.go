// Package http1 reads HTTP/1.1 messages and writes their fields (RFC 9112), for
// connections to workers and from clients alike. It is strict: what two readers may
// understand differently is an error.
package http1
