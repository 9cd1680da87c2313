package upstream

import (
	"sync"
	"time"

	"gatewayd/internal/socket"
)

// idle holds the connections that are not in use, the last used one on top.
type idle struct {
	timeout time.Duration
	perHost int

	mu    sync.Mutex
	hosts map[string][]*conn
	sweep *time.Timer // nil while nothing is held
}

// take returns a connection that still works, as far as can be seen, or nil.
func (i *idle) take(host string) *conn {
	for {
		c := i.pop(host)
		if c == nil || time.Since(c.since) < i.timeout && socket.Quiet(c.Conn) {
			return c
		}
		c.Close()
	}
}

func (i *idle) pop(host string) *conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	held := i.hosts[host]
	if len(held) == 0 {
		return nil
	}
	last := len(held) - 1
	c := held[last]
	held[last] = nil
	i.hosts[host] = held[:last]
	return c
}

// put keeps a connection for the next request.
func (i *idle) put(c *conn) {
	c.since, c.ctx, c.stop = time.Now(), nil, nil // nothing of the exchange is held on to
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.hosts[c.host]) >= i.perHost {
		c.Close()
		return
	}
	i.hosts[c.host] = append(i.hosts[c.host], c)
	if i.sweep == nil {
		i.sweep = time.AfterFunc(i.timeout, i.clear)
	}
}

// clear closes connections that were not used for long.
func (i *idle) clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	left := false
	for host, held := range i.hosts {
		old := 0
		for old < len(held) && time.Since(held[old].since) >= i.timeout {
			held[old].Close()
			old++
		}
		if old == len(held) {
			delete(i.hosts, host)
			continue
		}
		i.hosts[host] = append(held[:0:0], held[old:]...)
		left = true
	}
	i.sweep = nil
	if left {
		i.sweep = time.AfterFunc(i.timeout, i.clear)
	}
}

func (i *idle) closeAll() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, held := range i.hosts {
		for _, c := range held {
			c.Close()
		}
	}
	clear(i.hosts)
	if i.sweep != nil {
		i.sweep.Stop()
		i.sweep = nil
	}
}
