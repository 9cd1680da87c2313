package upstream

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// arrived waits until something is to be read on a connection.
func arrived(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	for there := 0; there == 0 && err == nil; runtime.Gosched() {
		err = raw.Control(func(fd uintptr) {
			there, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		})
	}
}

// TestCancelOfAFlood holds that the end of the context ends an answer whose reader never
// has to wait.
func TestCancelOfAFlood(t *testing.T) {
	const part = "5\r\ndata \r\n"
	more := make(chan struct{})
	w := newWorker(t, func(c net.Conn, r *http.Request, in *bufio.Reader) bool {
		says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+part)(c, r, in)
		for range more {
			c.Write([]byte(part))
		}
		return false
	})
	defer close(more)
	var own net.Conn
	dial := w.o.Dial
	w.o.Dial = func(ctx context.Context, network, address string) (c net.Conn, err error) {
		own, err = dial(ctx, network, address)
		return own, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := w.Do(ctx, w.request(t, "question"), wrote(func(error) { arrived(t, own) }))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	cancel()
	b := make([]byte, 1<<10)
	for range 10_000 {
		if _, err = resp.Body.Read(b); err != nil {
			break
		}
		more <- struct{}{}
		arrived(t, own)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}
