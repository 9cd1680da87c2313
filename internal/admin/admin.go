// Package admin is the gateway's second listener: metrics, and what operators
// want to see of plans, workers and strategies as JSON.
//
// Reading order: admin.go (routes), plans.go, workers.go.
package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"time"

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
type Workers interface{ Workers() []fleet.Status }

// New returns the handler of the admin listener.
func New(version string, metrics http.Handler, g Gateway, f Workers) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "this path takes GET requests only")
			return
		}
		switch path.Clean("/" + r.URL.Path) {
		case "/metrics":
			metrics.ServeHTTP(w, r)
		case "/health", "/healthz":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Write([]byte("ok\n"))
		case "/plans":
			if n, err := keys(r); err != nil {
				refuse(w, http.StatusBadRequest, err.Error())
			} else {
				answer(w, plans(g, n))
			}
		case "/workers":
			answer(w, workers(g, f, time.Now()))
		case "/strategies":
			answer(w, strategies(g))
		case "/version":
			answer(w, map[string]string{"version": version})
		default:
			refuse(w, http.StatusNotFound, "there is nothing at this path; see /metrics, /plans, /workers, /strategies, /version")
		}
	})
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
		if p.Phase == plugin.Down {
			v.WaitS = p.Wait.Seconds()
		}
		out = append(out, v)
	}
	return append(out, strategyView{Name: router.BuiltIn, Phase: "built-in"})
}
