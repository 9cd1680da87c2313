package upstream

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"

	"gatewayd/internal/http1"
)

// repeated are the fields by which net/http takes it that a request may be made twice, if
// they are written so. Whether one is made again is not for it to say.
var repeated = []string{"Idempotency-Key", "X-Idempotency-Key"}

// Via has another transport make the request.
func Via(ctx context.Context, next http.RoundTripper, r *Request, h Hooks) (*Response, error) {
	header := r.Header.Map()
	if _, ok := header["User-Agent"]; !ok {
		header["User-Agent"] = nil // none, instead of the transport's own
	}
	for _, name := range repeated {
		if values, ok := header[name]; ok {
			delete(header, name)
			header[strings.ToLower(name)] = values
		}
	}
	out := &http.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, Header: header, ContentLength: r.Length, Body: r.Body,
		GetBody: func() (io.ReadCloser, error) { return r.Again(), nil },
	}
	resp, err := next.RoundTrip(out.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { h.Connected(i.Reused) },
		WroteRequest:         func(i httptrace.WroteRequestInfo) { h.Wrote(i.Err) },
		GotFirstResponseByte: h.Answered,
	})))
	if err != nil {
		return nil, err
	}
	return &Response{Body: resp.Body, Response: http1.Response{
		StatusCode: resp.StatusCode, Status: resp.Status, Proto: resp.Proto, Minor: resp.ProtoMinor,
		Header: http1.HeaderOf(resp.Header), Length: resp.ContentLength, Chunked: len(resp.TransferEncoding) > 0, Close: resp.Close,
	}}, nil
}
