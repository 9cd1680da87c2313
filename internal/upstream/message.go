package upstream

import (
	"io"
	"net/url"

	"gatewayd/internal/http1"
)

// Request is a request to a worker. All is required but Host.
type Request struct {
	Method string       // other than CONNECT
	URL    *url.URL     // http or https
	Host   string       // what the worker is told; "": that of URL
	Header http1.Header // what it says of host and length does not count, nor may it speak of the connection
	Length int64        // of the body in bytes, >= 0
	Body   io.ReadCloser
	Again  func() io.ReadCloser // returns the body from its beginning
}

// Response is the answer to it.
type Response struct {
	http1.Response
	Body io.ReadCloser
}
