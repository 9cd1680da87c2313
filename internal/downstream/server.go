package downstream

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options sets up a Server. All are required.
type Options struct {
	// Base has the limits of heads and times and the log, and serves the connections
	// that are not for this server. Of its fields TLSConfig, ReadHeaderTimeout,
	// IdleTimeout, MaxHeaderBytes and ErrorLog count here; all are required but
	// TLSConfig: with it, all connections are TLS.
	Base *http.Server
	// Handler answers the requests, also those that come by Base, whose own handler New
	// sets.
	Handler Handler
	// Refuse answers a request that cannot be read. The connection is closed then.
	Refuse func(w Writer, status int, why string)
}

// Server is an HTTP server. Hijacking and trailers are not known.
type Server struct {
	o    Options
	tls  *tls.Config // nil: connections are plain
	rest *handed     // to Base

	first   sync.Once // of Serve
	closing atomic.Bool
	ended   chan struct{} // closed with closing
	mu      sync.Mutex
	open    map[net.Listener]bool
	conns   map[*conn]bool
	none    chan struct{} // closed while there are no conns
}

// New returns a server without connections.
func New(o Options) *Server {
	o.Base.Handler = Standard{o.Handler}
	s := &Server{
		o: o, tls: o.Base.TLSConfig.Clone(), rest: &handed{conns: make(chan net.Conn), closed: make(chan struct{})}, ended: make(chan struct{}),
		open: map[net.Listener]bool{}, conns: map[*conn]bool{}, none: make(chan struct{}),
	}
	close(s.none)
	return s
}

// Serve serves the connections of a listener until Shutdown or Close, and returns
// http.ErrServerClosed then. When the listener fails, it is asked again after a pause of
// at most a second, unless somebody else has closed it: that is the error returned.
func (s *Server) Serve(l net.Listener) error {
	if !s.listen(l) {
		l.Close()
		return http.ErrServerClosed
	}
	s.first.Do(func() {
		s.rest.address = l.Addr()
		go func() { _ = s.o.Base.Serve(s.rest) }() // it ends with this server
		go s.watch()
	})
	var rest pause
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			rest = 0
			s.begin(c)
		case s.closing.Load():
			return http.ErrServerClosed
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			s.o.Base.ErrorLog.Printf("a connection cannot be accepted: %v; the next try comes in %v", err, rest.next())
			select {
			case <-time.After(time.Duration(rest)):
			case <-s.ended:
			}
		}
	}
}

// pause is the time to the next try, which grows.
type pause time.Duration

func (p *pause) next() time.Duration {
	*p = pause(min(max(2*time.Duration(*p), 5*time.Millisecond), time.Second))
	return time.Duration(*p)
}

func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.open[l] = true
	return true
}

// begin serves a new connection.
func (s *Server) begin(c net.Conn) {
	own := newConn(s, c)
	switch {
	case own != nil:
		s.start(own)
	case s.tls != nil:
		s.rest.hand(tls.Server(c, s.tls))
	default:
		s.rest.hand(c)
	}
}

func (s *Server) start(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		c.cut()
		return
	}
	if s.conns[c] = true; len(s.conns) == 1 {
		s.none = make(chan struct{})
	}
	go c.serve()
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.conns, c); len(s.conns) == 0 {
		close(s.none)
	}
}
