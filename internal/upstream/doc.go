// Package upstream sends requests to workers over plain HTTP/1.1, at about half of
// what http.Transport takes for it: the goroutine that asks also writes, waits and
// reads. Requests over TLS, with HTTP/2 too, go to the next http.RoundTripper.
//
// Reading order: message.go (what is sent and what comes back), transport.go (one
// exchange), conn.go (a connection and its
// limits), body.go (an answer's body, and when its connection is free again),
// idle.go (connections that wait for the next request).
package upstream
