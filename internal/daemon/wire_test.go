package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/gateway"
)

const getHealth = "GET /health HTTP/1.1\r\nHost: g\r\n\r\n"

// handed is a listener whose connections are handed to it.
type handed struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l handed) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l handed) Close() error   { close(l.closed); return nil }
func (l handed) Addr() net.Addr { return &net.UnixAddr{Name: "handed", Net: "unix"} }

// A connection that says nothing, or never comes to the end of a head, is ended
// when its time is over, and an idle one after a longer time. A head that comes
// slowly, but within its time, is served.
func TestConnectionsHaveTheirTime(t *testing.T) {
	for name, c := range map[string]struct {
		send []string // a second lies between two
		want time.Duration
		ok   int // answers
	}{
		"nothing":               {nil, headerTimeout, 0},
		"half a head":           {[]string{getHealth[:20]}, headerTimeout, 0},
		"byte by byte":          {strings.Split(getHealth, ""), headerTimeout, 0},
		"a slow head":           {[]string{getHealth[:5], getHealth[5:20], getHealth[20:]}, 2*time.Second + idleTimeout, 1},
		"idle":                  {[]string{getHealth}, idleTimeout, 1},
		"idle again":            {[]string{getHealth, getHealth}, time.Second + idleTimeout, 2},
		"half a head behind it": {[]string{getHealth, getHealth[:20]}, time.Second + headerTimeout, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &Daemon{o: Options{Config: config.Default()}, log: hclog.NewNullLogger()}
				s := downstream.New(downstream.Options{Base: d.apiServer(), Handler: saysOK{}, Refuse: gateway.Refuse})
				l := handed{make(chan net.Conn), make(chan struct{})}
				served := make(chan error)
				go func() { served <- s.Serve(l) }()
				client, server := net.Pipe()
				l.conns <- server
				began := time.Now()
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					for i, part := range c.send {
						if i > 0 {
							<-time.After(time.Second)
						}
						if _, err := io.WriteString(client, part); err != nil {
							return
						}
					}
				}()
				got, err := io.ReadAll(client)
				if err != nil || strings.Count(string(got), "HTTP/1.1 200 OK") != c.ok {
					t.Errorf("%q, %v, want %d answers", got, err, c.ok)
				}
				if took := time.Since(began); took < c.want || took > c.want+time.Second {
					t.Errorf("ended after %s, want %s", took, c.want)
				}
				client.Close()
				<-sent
				s.Close()
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
			})
		})
	}
}

// When the gateway shuts down, connections without a request are closed in good
// order, and one with a request when that has its whole answer.
func TestShutdownClosesConnections(t *testing.T) {
	release := make(chan struct{})
	d := start(t, settings(holding(t, release)))
	dial := func(send string) (net.Conn, *bufio.Reader, *http.Response) {
		c, err := net.Dial("tcp", d.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(time.Minute))
		io.WriteString(c, send)
		in := bufio.NewReader(c)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return c, in, resp
	}
	var idle []*bufio.Reader
	for range 3 {
		_, in, resp := dial(getHealth)
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s %v", resp.Status, text, err)
		}
		idle = append(idle, in)
	}
	_, busy, stream := dial(fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nContent-Length: %d\r\n\r\n%s", len(streamed), streamed))
	ended := make(chan error)
	go func() { ended <- d.Shutdown(context.Background()) }()
	until(t, "readiness to fail", func() bool { return status(t, d, "/readyz") == http.StatusServiceUnavailable })
	close(release)
	if text, err := io.ReadAll(stream.Body); err != nil || string(text) != token+done {
		t.Errorf("the stream: %q, %v", text, err)
	}
	for _, in := range append(idle, busy) {
		if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
			t.Errorf("it ended with %q, %v", rest, err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

type saysOK struct{}

func (saysOK) Serve(w downstream.Writer, _ *downstream.Request) { io.WriteString(w, "ok") }
