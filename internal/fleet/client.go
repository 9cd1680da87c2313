package fleet

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// client asks workers questions. It follows no redirect: a worker must not send
// the gateway, and its key, elsewhere.
type client struct{ http http.Client }

func newClient(t http.RoundTripper) *client {
	return &client{http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// NewTransport returns the transport that questions to workers go through. Each may
// take timeout to connect; cas sign the certificates of workers, nil means the
// system's.
func NewTransport(timeout time.Duration, cas *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: timeout}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: cas},
		TLSHandshakeTimeout:    timeout,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// statusError is an answer with a status other than 200.
type statusError int

func (e statusError) Error() string {
	switch e {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("status %d: check the worker's api_key_file", int(e))
	case http.StatusServiceUnavailable:
		return "status 503: it is not ready yet"
	}
	return fmt.Sprintf("status %d", int(e))
}

// question is one GET to a worker. Everything, the body included, has to
// happen within the timeout.
type question struct {
	path    string
	timeout time.Duration
	fresh   bool // over a new connection
}

// ask sends a question and hands the body of a 200 to read.
func (c *client) ask(ctx context.Context, s *Spec, q question, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL.JoinPath(q.path).String(), nil)
	if err != nil {
		return err
	}
	s.Decorate(req.Header)
	req.Close = q.fresh
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("GET %s: %w", q.path, cause(err, q.timeout))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		err = statusError(resp.StatusCode)
	} else {
		err = read(resp.Body)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", q.path, cause(err, q.timeout))
	}
	return nil
}

// cause puts the reason for a failed request in few words.
func cause(err error, timeout time.Duration) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no whole answer within %v: %w", timeout, context.DeadlineExceeded)
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err // without the method and URL
	}
	return err
}

// refused reports whether an error says that nobody listens at the address.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

const (
	healthPath   = "/health"
	modelsPath   = "/v1/models"
	metricsPath  = "/metrics"
	tensorrtPath = "/prometheus/metrics"

	maxHealth  = 64 << 10 // bytes of a health check's answer that are read
	maxListing = 4 << 20  // bytes of a model list
)

// check asks whether the worker is well; a worker without a health page is
// well when it lists its models. It uses a new connection, because a server
// that shuts down goes on serving old ones.
func (c *client) check(ctx context.Context, s *Spec, timeout time.Duration) error {
	drop := func(r io.Reader) error {
		_, err := io.Copy(io.Discard, io.LimitReader(r, maxHealth))
		return err
	}
	err := c.ask(ctx, s, question{path: healthPath, timeout: timeout, fresh: true}, drop)
	var status statusError
	if errors.As(err, &status) && status == http.StatusNotFound {
		return c.ask(ctx, s, question{path: modelsPath, timeout: timeout, fresh: true}, drop)
	}
	return err
}

// models asks which models the worker serves.
func (c *client) models(ctx context.Context, s *Spec, timeout time.Duration) (l *listing, err error) {
	err = c.ask(ctx, s, question{path: modelsPath, timeout: timeout}, func(r io.Reader) error {
		var body bytes.Buffer
		n, err := body.ReadFrom(io.LimitReader(r, maxListing+1))
		if err != nil {
			return err
		}
		if n > maxListing {
			return fmt.Errorf("the model list is larger than %d bytes", maxListing)
		}
		l, err = parseListing(body.Bytes(), s.Models, s.Names)
		return err
	})
	return l, err
}

// metrics reads the engine's metrics at a path.
func (c *client) metrics(ctx context.Context, s *Spec, path string, timeout time.Duration) (sample Sample, err error) {
	err = c.ask(ctx, s, question{path: path, timeout: timeout}, func(r io.Reader) error {
		sample, err = parse(r, maxMetrics, s.rankText())
		return err
	})
	return sample, err
}

// find looks where the engine's metrics are, and reads them there. TensorRT-LLM
// has JSON at the usual path.
func (c *client) find(ctx context.Context, s *Spec, timeout time.Duration) (path string, sample Sample, err error) {
	sample, err = c.metrics(ctx, s, metricsPath, timeout)
	var status statusError
	if err != nil && !errors.As(err, &status) || sample.Engine != "" {
		return metricsPath, sample, err
	}
	if other, err := c.metrics(ctx, s, tensorrtPath, timeout); err == nil && other.Engine != "" {
		return tensorrtPath, other, nil
	}
	return metricsPath, sample, err
}
