package socket_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gatewayd/internal/socket"
)

// pair returns the two ends of a connection.
func pair(t *testing.T) (own net.Conn, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return socket.New(c), other.(*net.TCPConn)
}

// More than the system takes at once goes through in both directions at the same time.
func TestEcho(t *testing.T) {
	own, far := pair(t)
	text := make([]byte, 16<<20)
	_, _ = rand.Read(text)
	go func() {
		_, _ = io.Copy(far, far)
		far.CloseWrite()
	}()
	go func() {
		if n, err := own.Write(text); n != len(text) || err != nil {
			t.Errorf("%d of %d bytes were written: %v", n, len(text), err)
		}
		own.(interface{ CloseWrite() error }).CloseWrite()
	}()
	if came, err := io.ReadAll(own); err != nil || !bytes.Equal(came, text) {
		t.Errorf("%d bytes of %d came back: %v", len(came), len(text), err)
	}
	if n, err := own.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("behind the end: %d, %v", n, err)
	}
}

// What goes wrong is told as the net package tells it.
func TestErrors(t *testing.T) {
	var network *net.OpError
	b := make([]byte, 1<<20)

	own, _ := pair(t)
	own.SetDeadline(time.Unix(1, 0))
	if n, err := own.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &network) || !network.Timeout() {
		t.Errorf("too late: %d, %v", n, err)
	}
	if n, err := own.Write(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &network) {
		t.Errorf("too late: %d, %v", n, err)
	}

	own, far := pair(t)
	far.SetLinger(0)
	far.Close()
	if n, err := own.Read(b); n != 0 || !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &network) || network.Op != "read" {
		t.Errorf("reset: %d, %v", n, err)
	}
	if n, err := own.Write(b); n != 0 || !errors.Is(err, syscall.EPIPE) || !errors.As(err, &network) || network.Op != "write" {
		t.Errorf("reset: %d, %v", n, err)
	}

	own, _ = pair(t)
	reads := make(chan error)
	go func() {
		_, err := own.Read(b)
		reads <- err
	}()
	own.Close()
	if err := <-reads; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed meanwhile: %v", err)
	}
	if _, err := own.Write(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if n, err := own.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing asked for: %d, %v", n, err)
	}
}

// A write that takes until the deadline tells how much went out.
func TestPartOfAWrite(t *testing.T) {
	own, far := pair(t)
	text := make([]byte, 64<<20)
	go func() {
		_, _ = far.Read(make([]byte, 1)) // the write has begun
		own.SetWriteDeadline(time.Unix(1, 0))
	}()
	n, err := own.Write(text)
	if n == 0 || n == len(text) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d, %v", n, err)
	}
	own.Close()
	if came, err := io.Copy(io.Discard, far); came != int64(n)-1 || err != nil {
		t.Errorf("%d bytes of %d came: %v", came, n, err)
	}
}

// A connection is quiet until something comes, be it the end.
func TestQuiet(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing is known elsewhere")
	}
	for what, f := range map[string]func(far *net.TCPConn){
		"bytes":   func(far *net.TCPConn) { far.Write([]byte("x")) },
		"the end": func(far *net.TCPConn) { far.CloseWrite() },
		"a reset": func(far *net.TCPConn) { far.SetLinger(0); far.Close() },
	} {
		own, far := pair(t)
		if !socket.Quiet(own) {
			t.Errorf("%s: not quiet before", what)
		}
		f(far)
		for socket.Quiet(own) && t.Context().Err() == nil { // until it has come
			runtime.Gosched()
		}
	}
	own, far := pair(t)
	far.Write([]byte("hello"))
	b := make([]byte, 5)
	if _, err := io.ReadFull(own, b); err != nil || string(b) != "hello" || !socket.Quiet(own) {
		t.Errorf("%q, %v", b, err)
	}
	one, two := net.Pipe()
	defer one.Close()
	defer two.Close()
	if socket.New(one) != one || !socket.Quiet(one) {
		t.Error("no TCP connection: it must come back as it is")
	}
}

// Before a connection waits it says so, and else it does not.
func TestBefore(t *testing.T) {
	one, two := net.Pipe()
	defer one.Close()
	defer two.Close()
	if socket.Before(one, nil) {
		t.Error("no TCP connection: nothing can be called")
	}
	own, far := pair(t)
	waits := make(chan struct{}, 1)
	if !socket.Before(own, func() { waits <- struct{}{} }) {
		t.Skip("nothing is called elsewhere than on Linux")
	}
	b := make([]byte, 1)
	go func() {
		<-waits
		far.Write([]byte("two"))
	}()
	for range 3 { // the first one waits, or the test does not end
		if _, err := own.Read(b); err != nil {
			t.Fatal(err)
		}
	}
	far.Write([]byte("x"))
	for !ready(t, own) {
		runtime.Gosched()
	}
	if _, err := own.Read(b); err != nil {
		t.Fatal(err)
	}
	own.Write(b)
	select {
	case <-waits:
		t.Error("it waited for what was there")
	default:
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		own.Write(make([]byte, 64<<20)) // more than the system takes
	}()
	<-waits
	own.Close()
	<-ended
}

// ready reports whether something is to be read.
func ready(t *testing.T, c net.Conn) bool {
	t.Helper()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := raw.Control(func(fd uintptr) { n, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) }); err != nil {
		t.Fatal(err)
	}
	return n > 0
}
