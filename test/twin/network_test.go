package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// network is a network in memory. Inside of a synctest bubble its connections
// take no time and let virtual time pass.
type network struct {
	mu   sync.Mutex
	host map[string]*listener // by address
}

// listener is one address of the network.
type listener struct {
	address string
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return address(l.address) }

type address string

// Network implements net.Addr.
func (address) Network() string { return "memory" }

// String implements net.Addr.
func (a address) String() string { return string(a) }

// listen opens an address.
func (n *network) listen(at string) net.Listener {
	l := &listener{address: at, conns: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.host == nil {
		n.host = map[string]*listener{}
	}
	n.host[at] = l
	return l
}

// dial connects to an address.
func (n *network) dial(ctx context.Context, _, to string) (net.Conn, error) {
	n.mu.Lock()
	l := n.host[to]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: address(to), Err: net.ErrClosed}
	}
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: address(to), Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// transport carries HTTP over the network.
func (n *network) transport() *http.Transport {
	return &http.Transport{DialContext: n.dial, MaxIdleConnsPerHost: 1024, IdleConnTimeout: 90 * time.Second, DisableCompression: true}
}

// serve serves a handler at an address until the returned function is called.
func (n *network) serve(at string, h http.Handler) (stop func()) {
	l := n.listen(at)
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l)
	}()
	return func() {
		s.Close()
		<-done
	}
}
