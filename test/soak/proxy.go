package main

import (
	"net"
	"sync"
	"time"
)

// state is what a proxy does with what passes through it.
type state int

const (
	through state = iota
	frozen        // connections stay open and nothing passes
	refused       // nobody listens, and connections are cut
	slow          // each answer takes slowness
)

// slowness is how long a slow answer takes.
const slowness = 300 * time.Millisecond

func (s state) String() string { return [...]string{"through", "frozen", "refused", "slow"}[s] }

// proxy stands between the gateway and Redis.
type proxy struct {
	address string
	socket  string // of Redis

	mu       sync.Mutex
	state    state
	changed  chan struct{} // closed when the state changes
	listener net.Listener
	conns    map[net.Conn]bool
}

func newProxy(socket string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{address: l.Addr().String(), socket: socket, changed: make(chan struct{}), listener: l, conns: map[net.Conn]bool{}}
	go p.accept(l)
	return p, nil
}

// set changes the state. The port is this program's own: it is free again when
// nobody listens on it.
func (p *proxy) set(s state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == refused {
		p.listener.Close()
		p.cut()
	} else if p.state == refused {
		if l, err := net.Listen("tcp", p.address); err == nil { // else Redis stays away, which shows
			p.listener = l
			go p.accept(l)
		}
	}
	p.state = s
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener.Close()
	p.cut()
	p.state = refused
	close(p.changed)
	p.changed = make(chan struct{})
}

// cut closes all connections; the caller holds the lock.
func (p *proxy) cut() {
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

func (p *proxy) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("unix", p.socket)
		if err != nil {
			c.Close()
			continue
		}
		p.mu.Lock()
		if p.state == refused {
			c.Close()
			up.Close()
		} else {
			p.conns[c], p.conns[up] = true, true
			go p.copy(up, c, 0)
			go p.copy(c, up, slowness)
		}
		p.mu.Unlock()
	}
}

// copy passes on what comes, as the state lets it.
func (p *proxy) copy(to, from net.Conn, delay time.Duration) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if p.admit() == slow {
			time.Sleep(delay)
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// admit waits while the proxy is frozen and returns its state.
func (p *proxy) admit() state {
	for {
		p.mu.Lock()
		s, changed := p.state, p.changed
		p.mu.Unlock()
		if s != frozen {
			return s
		}
		<-changed
	}
}
