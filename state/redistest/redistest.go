// Package redistest runs real Redis servers for tests: without persistence, in
// a temporary directory, on a unix socket or a loopback port, and ended with
// the test. A test without a redis-server binary fails; it is never skipped.
package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Start runs a server on a unix socket, and returns its URL.
func Start(t testing.TB) (url string, s *Server) {
	t.Helper()
	dir := temporary(t)
	s = &Server{network: "unix", address: filepath.Join(dir, "s"), dir: dir}
	s.args = append(fresh(dir), "--port", "0", "--unixsocket", s.address)
	s.run(t)
	return "unix://" + s.address, s
}

// StartTCP runs a server on a free port of 127.0.0.1 with more arguments, such
// as "--cluster-enabled", "yes", and returns its address, HOST:PORT.
func StartTCP(t testing.TB, args ...string) (address string, s *Server) {
	t.Helper()
	address, port := free(t)
	dir := temporary(t)
	s = &Server{network: "tcp", address: address, dir: dir}
	s.args = append(append(fresh(dir), "--port", port, "--bind", "127.0.0.1"), args...)
	s.run(t)
	return address, s
}

// StartCluster runs a Cluster of one server that has all slots, and returns its
// address. It needs Redis 7.
func StartCluster(t testing.TB) (address string, s *Server) {
	t.Helper()
	address, s = StartTCP(t, "--cluster-enabled", "yes")
	if _, err := s.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383"); err != nil {
		t.Fatalf("redistest: give the slots to the only server of a cluster: %v", err)
	}
	s.await(t, "GET", "any")
	return address, s
}

// StartSentinel runs a Sentinel that knows the server at primary, HOST:PORT, by
// a name, and returns the Sentinel's address.
func StartSentinel(t testing.TB, name, primary string) (address string, s *Server) {
	t.Helper()
	address, port := free(t)
	host, at, err := net.SplitHostPort(primary)
	if err != nil {
		t.Fatalf("redistest: address of the primary: %v", err)
	}
	dir := temporary(t)
	file := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nlogfile log\nsentinel monitor %s %s %s 1\n", port, dir, name, host, at)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatalf("redistest: configure a sentinel: %v", err)
	}
	s = &Server{network: "tcp", address: address, dir: dir, args: []string{file, "--sentinel"}}
	s.run(t)
	return address, s
}

// fresh are the arguments of a server without persistence.
func fresh(dir string) []string {
	return []string{"--dir", dir, "--logfile", "log", "--save", "", "--appendonly", "no"}
}

// temporary makes a folder with a short path, as a socket's path is bounded.
func temporary(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		t.Fatalf("redistest: make a temporary folder: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// free returns an address that nobody uses now, below the ports that systems
// give to clients, so that none takes it before the server does. A Cluster uses
// also the port that is 10000 higher.
func free(t testing.TB) (address, port string) {
	t.Helper()
	const low, high, bus = 10_000, 22_000, 10_000
	for range 100 {
		n := low + rand.IntN(high-low)
		if vacant(n) && vacant(n+bus) {
			port = strconv.Itoa(n)
			return net.JoinHostPort("127.0.0.1", port), port
		}
	}
	t.Fatalf("redistest: found no free port between %d and %d", low, high)
	return "", ""
}

func vacant(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
