package worker

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"gatewayd/benchlab/engine"
)

// errClosed is what callers get once Close has begun.
var errClosed = errors.New("the engine is shut down")

// Server is one emulated worker. All methods may be called concurrently.
type Server struct {
	config   Config
	block    int // tokens per KV block
	handler  http.Handler
	metrics  *metrics
	inFlight atomic.Int64
	lastID   atomic.Uint64

	commands chan func(*actor)
	closing  chan struct{}
	stopped  chan struct{}
	once     sync.Once
}

// New starts a worker, whose engine idles until requests come. The caller must
// Close it.
func New(config Config) (*Server, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	e, err := engine.New(config.Profile)
	if err != nil {
		return nil, err
	}
	profile := e.Profile()
	if err := config.completeContext(profile.KVBlocks * profile.BlockTokens); err != nil {
		return nil, err
	}
	s := &Server{
		config:   config,
		block:    profile.BlockTokens,
		metrics:  newMetrics(config.Models[0], profile),
		commands: make(chan func(*actor)),
		closing:  make(chan struct{}),
		stopped:  make(chan struct{}),
	}
	s.handler = s.routes()
	a := &actor{
		engine: e, clock: config.Clock, origin: config.Clock.Now(), speed: config.Speed,
		jobs: make(map[uint64]*job), metrics: s.metrics,
	}
	a.publish()
	go func() {
		defer close(s.stopped)
		a.run(s.commands, s.closing)
	}()
	return s, nil
}

// Handler serves the worker's HTTP API.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends the engine: requests in progress fail, later ones get 503. It
// returns when the engine's goroutine is gone; handlers return soon after.
func (s *Server) Close() {
	s.once.Do(func() { close(s.closing) })
	<-s.stopped
}

// Flush drops the prefix cache, as between two runs of a comparison.
func (s *Server) Flush(ctx context.Context) error {
	return s.ask(ctx, func(a *actor) { a.engine.Flush(a.now()) })
}

// Stats returns the engine's state; its times are engine time, which is Speed
// times wall time.
func (s *Server) Stats(ctx context.Context) (stats engine.Stats, err error) {
	err = s.ask(ctx, func(a *actor) { stats = a.engine.Stats(a.now()) })
	return stats, err
}

// ask has the actor run f and returns when it has. The channel is not buffered:
// a command that the actor took, it runs at once.
func (s *Server) ask(ctx context.Context, f func(*actor)) error {
	done := make(chan struct{})
	command := func(a *actor) {
		defer close(done)
		f(a)
	}
	select {
	case s.commands <- command:
		<-done
		return nil
	case <-s.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v1/chat/completions", s.api(http.MethodPost, s.chat))
	mux.Handle("/v1/completions", s.api(http.MethodPost, s.completion))
	mux.Handle("/v1/embeddings", s.api(http.MethodPost, s.embed))
	mux.Handle("/v1/models", s.api(http.MethodGet, s.models))
	mux.Handle("/reset_prefix_cache", s.api(http.MethodPost, s.resetPrefixCache))
	mux.HandleFunc("/health", s.health)
	mux.Handle("/metrics", s.metrics.handler())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, refuse(http.StatusNotFound, "", "no such path: %s", r.URL.Path))
	})
	return mux
}
