// Package admin is the gateway's second listener: metrics, what operators want to
// see of plans, workers and strategies as JSON, and what they may change while the
// gateway runs. All but metrics and health needs a token.
//
// Reading order: admin.go (routes), token.go, change.go, plans.go, workers.go.
package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
	"gatewayd/internal/pool"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// Gateway is what most pages are made from.
type Gateway interface {
	Pools() map[string]*pool.Pool
	Processes() []pool.ProcessState
}

// Workers knows the state of the workers.
type Workers interface {
	Workers() []fleet.Status
	Sources() []fleet.SourceStatus
}

// Options says what the pages are made from. All fields are required.
type Options struct {
	Version   string
	Token     config.Secret // asked for everywhere but at /metrics and /health
	Metrics   http.Handler
	Gateway   Gateway
	Workers   Workers
	Registrar Registrar
	Changer   Changer
	Shadows   Shadows
}

// server is the admin listener's handler.
type server struct{ Options }

// New returns the handler of the admin listener.
func New(o Options) http.Handler {
	s := &server{o}
	open := map[string]http.Handler{
		"/metrics": only(http.MethodGet, o.Metrics.ServeHTTP),
		"/health":  only(http.MethodGet, healthy), "/healthz": only(http.MethodGet, healthy),
	}
	closed := guarded(o.Token, http.HandlerFunc(s.route))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := open[path.Clean("/"+r.URL.Path)]; h != nil {
			h.ServeHTTP(w, r)
			return
		}
		closed.ServeHTTP(w, r)
	})
}

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok\n"))
}

// route serves what needs the token.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	route := path.Clean("/" + r.URL.Path)
	if strategy, ok := strings.CutPrefix(route, "/strategies/"); ok {
		if name, ok := strings.CutSuffix(strategy, "/swap"); ok {
			only(http.MethodPost, func(w http.ResponseWriter, r *http.Request) { s.swap(w, r, name) })(w, r)
			return
		}
	}
	if s.fleet(w, r, route) {
		return
	}
	page := func(v func() any) {
		only(http.MethodGet, func(w http.ResponseWriter, _ *http.Request) { answer(w, v()) })(w, r)
	}
	switch route {
	case "/plans":
		only(http.MethodGet, s.plans)(w, r)
	case "/workers":
		page(func() any { return workers(s.Gateway, s.Workers, time.Now()) })
	case "/sources":
		page(func() any { return sources(s.Workers.Sources(), time.Now()) })
	case "/strategies":
		page(func() any { return strategies(s.Gateway) })
	case "/shadow":
		page(func() any { return shadows(s.Shadows) })
	case "/config":
		page(func() any { return s.Changer.Config() })
	case "/version":
		page(func() any { return map[string]string{"version": s.Version} })
	case "/reload":
		only(http.MethodPost, func(w http.ResponseWriter, r *http.Request) { s.changed(w, s.Changer.Reload(r.Context())) })(w, r)
	default:
		refuse(w, http.StatusNotFound, "there is nothing at this path; see /metrics, /plans, /workers, /sources, /strategies, /shadow, /config, /version")
	}
}

func (s *server) plans(w http.ResponseWriter, r *http.Request) {
	n, err := keys(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	answer(w, plans(s.Gateway, n))
}

// only lets requests of one method through; GET stands for HEAD too.
func only(method string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
			h(w, r)
			return
		}
		allow := method
		if method == http.MethodGet {
			allow = "GET, HEAD"
		}
		w.Header().Set("Allow", allow)
		refuse(w, http.StatusMethodNotAllowed, "this path takes "+method+" requests only")
	}
}

// answer sends a value as JSON.
func answer(w http.ResponseWriter, v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, http.StatusOK, b)
}

// refuse sends an error as JSON.
func refuse(w http.ResponseWriter, status int, message string) {
	b, err := json.Marshal(map[string]string{"error": message})
	if err != nil {
		b = []byte(`{"error":"unknown"}`)
	}
	send(w, status, b)
}

func send(w http.ResponseWriter, status int, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// How many of a plan's keys are listed unless ?keys=N says otherwise, and at most.
const (
	usualKeys = 20
	mostKeys  = 1 << 20
)

func keys(r *http.Request) (int, error) {
	text := r.URL.Query().Get("keys")
	if text == "" {
		return usualKeys, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("keys is %.40q; it must be a number of keys, such as ?keys=100", text)
	}
	return min(n, mostKeys), nil
}

// strategyView is a strategy of the chain and its process.
type strategyView struct {
	Name     string  `json:"name"`
	Phase    string  `json:"phase"` // starting, up, down, stopped; built-in
	Pid      int     `json:"pid,omitempty"`
	Restarts int     `json:"restarts"`
	Error    string  `json:"error,omitempty"`
	WaitS    float64 `json:"next_start_in_seconds,omitempty"`
}

func strategies(g Gateway) []strategyView {
	var out []strategyView
	for _, p := range g.Processes() {
		v := strategyView{Name: p.Name, Phase: p.Phase.String(), Pid: p.Pid, Restarts: p.Restarts}
		if p.Err != nil {
			v.Error = p.Err.Error()
		}
		if p.Phase == plugin.Down || p.Phase == plugin.Quarantined {
			v.WaitS = p.Wait.Seconds()
		}
		out = append(out, v)
	}
	return append(out, strategyView{Name: router.BuiltIn, Phase: "built-in"})
}
