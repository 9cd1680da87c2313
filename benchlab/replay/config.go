package replay

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"gatewayd/benchlab/trace"
)

// Config says what to send where. All fields but Options are required.
type Config struct {
	Trace   *trace.Trace
	Target  *url.URL // base URL of the server; a trailing /v1 does not matter
	Model   string   // asked for in every request
	Options Options
}

// Options change what is usually left alone; the zero value is a good start.
type Options struct {
	APIKey   string   // sent as a bearer token unless empty
	Endpoint Endpoint // "" is Chat
	Timing   Timing   // "" is Recorded
	// Dilation is how many wall seconds a second of the trace takes; 0 is 1. Figures
	// are in seconds of the trace. It is for servers whose own time is dilated too.
	Dilation float64
	// SessionHeader names each request's session in a header; "" sends none.
	SessionHeader string
	// CacheKey names the session as prompt_cache_key in the body.
	CacheKey bool
	// Exact asks for answers of exactly the recorded length (ignore_eos and
	// min_tokens), which servers that do not know these fields may refuse.
	Exact  bool
	Tokens Tokens // how the server counts
	// Salt makes the texts and session names of this run; runs with different salts
	// share nothing in a server's cache.
	Salt        uint64
	MaxInFlight int           // requests that may be open at once; further ones fail as not_sent; 0 is 4096
	Timeout     time.Duration // of one request, in wall time from its sending; 0 is 10 minutes
	// Transport carries the requests; nil is one of the replay's own, which uses the
	// environment's proxy.
	Transport http.RoundTripper
	// Progress, if set, is told how many requests were sent and how many have ended,
	// from one goroutine, whenever that changes.
	Progress func(sent, ended int)
}

// maxRows bounds a trace: rows are counted in 32 bits.
const maxRows = math.MaxInt32

// Check reports what Run would refuse, but for a model that is not named yet.
func (c Config) Check() error {
	if c.Model == "" {
		c.Model = "any"
	}
	return c.complete()
}

// complete fills in defaults and checks the rest.
func (c *Config) complete() error {
	o := &c.Options
	if o.Endpoint == "" {
		o.Endpoint = Chat
	}
	if o.Timing == "" {
		o.Timing = Recorded
	}
	if o.Dilation == 0 {
		o.Dilation = 1
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 4096
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Minute
	}
	switch {
	case c.Trace == nil || len(c.Trace.Requests) == 0:
		return errors.New("replay: the trace has no requests")
	case len(c.Trace.Requests) > maxRows:
		return fmt.Errorf("replay: %d requests, at most %d are possible; cut the trace", len(c.Trace.Requests), maxRows)
	case c.Target == nil || c.Target.Host == "" || c.Target.Scheme != "http" && c.Target.Scheme != "https":
		return fmt.Errorf("replay: %q is no address of a server; write it as http://127.0.0.1:8080", c.Target)
	case c.Model == "":
		return errors.New("replay: no model is named")
	case o.Endpoint != Chat && o.Endpoint != Completions:
		return fmt.Errorf("replay: there is no endpoint %q; there are %s and %s", o.Endpoint, Chat, Completions)
	case o.Timing != Recorded && o.Timing != Sessions:
		return fmt.Errorf("replay: there is no timing %q; there are %s and %s", o.Timing, Recorded, Sessions)
	case !(o.Dilation >= 1e-3 && o.Dilation <= 1e3):
		return fmt.Errorf("replay: a dilation of %v, want 0.001 to 1000 wall seconds per second", o.Dilation)
	case o.MaxInFlight < 0 || o.Timeout < 0:
		return errors.New("replay: a limit is negative")
	}
	return o.Tokens.check()
}
