// Package upstream sends requests to workers over plain HTTP/1.1, at about half of
// what http.Transport takes for it: the goroutine that asks also writes, waits and
// reads. Parsing is left to net/http. Whatever else there is (TLS, HTTP/2, bodies
// of unknown length) goes to the next http.RoundTripper.
//
// Reading order: transport.go (one exchange), conn.go (a connection and its
// limits), body.go (an answer's body, and when its connection is free again),
// idle.go (connections that wait for the next request).
package upstream
