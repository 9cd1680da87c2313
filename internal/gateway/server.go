package gateway

import (
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/fleet"
	"gatewayd/internal/pool"
	"gatewayd/internal/record"
	"gatewayd/internal/telemetry"
	"gatewayd/internal/upstream"
	"gatewayd/pkg/router"
)

// Pools finds the pool and adapter that serve a model.
type Pools interface {
	Lookup(model string) (p *pool.Pool, adapter string, ok bool)
}

// Workers is what the edge needs to know of the fleet.
type Workers interface {
	Snapshot() *fleet.Snapshot
	Report(worker string, o fleet.Outcome)
}

// Options sets up a Server. All fields but the last two are required.
type Options struct {
	Config    config.Config
	Pools     Pools
	Workers   Workers
	Telemetry *telemetry.Telemetry
	Logger    hclog.Logger
	Dial      Dial             // makes the connections to workers; nil: over TCP
	Recorder  *record.Recorder // writes requests down; nil: nobody does
}

// Server is the handler of the API. It is safe for concurrent use.
type Server struct {
	cfg        config.Config
	pools      Pools
	workers    Workers
	telemetry  *telemetry.Telemetry
	log        hclog.Logger
	recorder   *record.Recorder // nil: nobody writes requests down
	transport  *upstream.Transport
	fresh      *http.Transport // makes a new connection for every request
	pace       pace
	buffers    buffers
	sessions   []sessionField
	priorities string       // canonical name of the header field that names a class, "": none does
	budget     budget       // of retries
	room       int64        // for bodies, in bytes
	inMemory   atomic.Int64 // bytes of bodies that take it
	draining   atomic.Bool
	running    running
}

// New returns the handler of the API.
func New(o Options) *Server {
	s := &Server{
		cfg: o.Config, pools: o.Pools, workers: o.Workers, telemetry: o.Telemetry,
		log:        o.Logger.Named("gateway"),
		recorder:   o.Recorder,
		transport:  newTransport(o.Config, o.Dial),
		fresh:      newStandard(o.Config, o.Dial),
		pace:       steady,
		room:       max(heldBytes, heldBodies*int64(o.Config.Limits.BodyBytes)),
		sessions:   sessionFields(o.Config.Headers.Session),
		priorities: http.CanonicalHeaderKey(o.Config.Headers.Priority),
	}
	s.fresh.DisableKeepAlives = true
	s.running.limit = o.Config.Timeouts.Total
	return s
}

// Drain makes /readyz fail and asks clients to open no further requests on
// their connections, so that they turn to other gateways. Requests are still
// served.
func (s *Server) Drain() { s.draining.Store(true) }

// Idle returns a channel that is closed once no inference request runs.
func (s *Server) Idle() <-chan struct{} { return s.running.none() }

// Stop ends all requests that still run, each with an error for its client, and
// those that come later.
func (s *Server) Stop() { s.running.stop() }

// Close drops idle connections to workers.
func (s *Server) Close() {
	s.running.rest()
	s.transport.CloseIdleConnections()
}

// Serve answers one request. Doubled and trailing slashes in a path do not matter, and
// nothing is ever redirected.
func (s *Server) Serve(client downstream.Writer, r *downstream.Request) {
	w := s.patient(client, r)
	defer func() { w.renew(time.Now()) }() // the server has yet to send what was not sent
	route := r.Path
	if operations[route] == nil {
		route = path.Clean("/" + route)
	}
	w.Header().Set(requestIDField, requestID(r.Header))
	if s.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	if e := s.tooMuch(r); e != nil {
		e.write(w)
		return
	}
	if op := operations[route]; op != nil {
		s.post(w, r, op)
		return
	}
	switch route {
	case "/v1/models":
		s.get(w, r, s.models)
	case "/health", "/healthz":
		s.get(w, r, func(w downstream.Writer, _ *downstream.Request) { writeText(w, http.StatusOK, "ok") })
	case "/readyz":
		s.get(w, r, s.ready)
	default:
		if strings.HasPrefix(route, "/v1/models/") {
			s.get(w, r, s.model)
			return
		}
		(&apiError{status: http.StatusNotFound, kind: "invalid_request_error", code: "not_found",
			message: "there is nothing at this path; the API is " + Paths()}).write(w)
	}
}

func (s *Server) post(w *patient, r *downstream.Request, op *operation) {
	if r.Method != http.MethodPost {
		wrongMethod(w, http.MethodPost)
		return
	}
	s.serve(w, r, op)
}

func (s *Server) get(w downstream.Writer, r *downstream.Request, f func(downstream.Writer, *downstream.Request)) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		wrongMethod(w, http.MethodGet)
		return
	}
	f(w, r)
}

func wrongMethod(w downstream.Writer, want string) {
	allow := want
	if want == http.MethodGet {
		allow = "GET, HEAD"
	}
	w.Header().Set("Allow", allow)
	(&apiError{status: http.StatusMethodNotAllowed, kind: "invalid_request_error", code: "method_not_allowed",
		message: "this path takes " + want + " requests only"}).write(w)
}

// ready answers whether requests can be served: some worker is up and the
// gateway is not shutting down.
func (s *Server) ready(w downstream.Writer, _ *downstream.Request) {
	switch {
	case s.draining.Load():
		writeText(w, http.StatusServiceUnavailable, "shutting down")
	case !s.serves():
		writeText(w, http.StatusServiceUnavailable, "no worker is up")
	default:
		writeText(w, http.StatusOK, "ready")
	}
}

// serves reports whether some model has a pool with a worker that is up.
func (s *Server) serves() bool {
	for model := range s.workers.Snapshot().Pools() {
		if p, _, ok := s.pools.Lookup(model); ok && p.Up() {
			return true
		}
	}
	return false
}

func writeText(w downstream.Writer, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}

// provider is the engine behind a worker, unless discovery knows better.
const provider = "openai_compatible"

// errorWord is the word for an ending in spans and metrics.
func errorWord(o router.Outcome, status int, e *apiError) string {
	switch {
	case e != nil:
		return e.code
	case o == router.Cancelled:
		return o.String()
	case status >= http.StatusBadRequest:
		return strconv.Itoa(status) // a worker's own error
	case o == router.Completed:
		return ""
	default:
		return o.String()
	}
}
