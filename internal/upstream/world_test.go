package upstream

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// worker plays a script on each connection: it reads a request, calls the script,
// and so on until that says that it has closed the connection.
type worker struct {
	*Transport
	address  string
	accepted atomic.Int64
	next     atomic.Int64 // requests that went to the next transport
}

// script answers one request; false ends the connection.
type script func(c net.Conn, r *http.Request, in *bufio.Reader) bool

// says is a script that reads the request and answers with a text.
func says(text string) script {
	return func(c net.Conn, r *http.Request, _ *bufio.Reader) bool {
		_, err := io.Copy(io.Discard, r.Body)
		_, werr := io.WriteString(c, text)
		return err == nil && werr == nil
	}
}

func newWorker(t *testing.T, play script) *worker {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{address: l.Addr().String()}
	w.Transport = New(Options{Dial: (&net.Dialer{}).DialContext, Next: next{w}, IdleTimeout: time.Minute, IdlePerHost: 4})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.accepted.Add(1)
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(in)
					if err != nil || !play(c, r, in) {
						return
					}
				}
			}()
		}
	}()
	t.Cleanup(func() {
		w.CloseIdleConnections()
		l.Close()
		<-ended
	})
	return w
}

// next stands for the transport of all other requests.
type next struct{ w *worker }

var errNext = errors.New("for the next transport")

func (n next) RoundTrip(*http.Request) (*http.Response, error) {
	n.w.next.Add(1)
	return nil, errNext
}

func (w *worker) request(t *testing.T, text string) *Request {
	u, err := url.Parse("http://" + w.address + "/v1/chat/completions?a=b")
	if err != nil {
		t.Fatal(err)
	}
	body := func() io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }
	return &Request{Method: http.MethodPost, URL: u, Length: int64(len(text)), Body: body(), Again: body}
}

// wrote are hooks that hear of the end of writing only.
type wrote func(error)

func (w wrote) Connected(bool)  {}
func (w wrote) Wrote(err error) { w(err) }
func (w wrote) Answered()       {}

// do makes a request in the test's context.
func (w *worker) do(t *testing.T, r *Request) (*Response, error) {
	return w.Do(t.Context(), r, wrote(func(error) {}))
}

// ask makes a request and reads the whole answer.
func (w *worker) ask(t *testing.T, body string) (status int, answer string, err error) {
	resp, err := w.do(t, w.request(t, body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}
