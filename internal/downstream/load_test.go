package downstream

import (
	"io"
	"net"
	"os"
	"sync"
	"testing"
)

// Connections that come and go in every way leave nothing behind.
func TestComingAndGoing(t *testing.T) {
	const clients, each = 50, 20
	w := newWorld(t, func(w Writer, r *Request) {
		if r.Path == "/wait" {
			<-r.Context().Done()
		}
		echo(w, r)
	}, nil)
	w.wire(t).ask("/", "/")
	before := files(t)
	ways := []func(c *net.TCPConn){
		func(c *net.TCPConn) {},
		func(c *net.TCPConn) { c.SetLinger(0) },
		func(c *net.TCPConn) { io.WriteString(c, "GET / HT") },
		func(c *net.TCPConn) { io.WriteString(c, "GET / HTTP/1.1\r\nHost: g\r\n\r\n") },
		func(c *net.TCPConn) { io.WriteString(c, "GET / HTTP/1.1\r\n\r\n") },
		func(c *net.TCPConn) { io.WriteString(c, "POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 9\r\n\r\n") },
		func(c *net.TCPConn) { io.WriteString(c, "GET /wait HTTP/1.1\r\nHost: g\r\n\r\n"); c.CloseWrite() },
		func(c *net.TCPConn) { io.WriteString(c, "GET /wait HTTP/1.1\r\nHost: g\r\n\r\n"); c.SetLinger(0) },
		func(c *net.TCPConn) {
			io.WriteString(c, "GET / HTTP/1.0\r\n\r\n")
			io.Copy(io.Discard, c)
		},
		func(c *net.TCPConn) { io.WriteString(c, preface+"SM\r\n\r\n") },
	}
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for j := range each {
				c, err := net.Dial("tcp", w.address)
				if err != nil {
					t.Error(err)
					return
				}
				ways[(i+j)%len(ways)](c.(*net.TCPConn))
				c.Close()
			}
		})
	}
	all.Wait()
	w.wire(t).ask("/", "/")
	w.ends(t)
	if after := files(t); after > before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

// files counts open files.
func files(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("this system does not say which files are open: %v", err)
	}
	return len(all)
}
