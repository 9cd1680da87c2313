package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"gatewayd/internal/config"
	"gatewayd/internal/fleet"
)

// Registrar changes the set of workers. An error that wraps ErrRefused is the
// caller's to mend.
type Registrar interface {
	Register(w config.Worker) error
	Remove(id string) error
	Drain(id string, on bool) error
}

// registration is a worker as it is registered.
type registration struct {
	URL         string            `json:"url"`
	ID          string            `json:"id"`
	Models      []string          `json:"models"`
	Names       map[string]string `json:"names"`
	Zone        string            `json:"zone"`
	Concurrency int               `json:"concurrency"`
	KVTokens    int               `json:"kv_tokens"`
	KVLoad      float64           `json:"kv_load"`
	Ranks       string            `json:"ranks"`
	Drain       bool              `json:"drain"`
}

// fleet serves the paths under /workers, and reports whether this is one.
func (s *server) fleet(w http.ResponseWriter, r *http.Request, route string) bool {
	id, ok := strings.CutPrefix(route, "/workers/")
	switch {
	case route == "/workers" && r.Method == http.MethodPost:
		s.register(w, r)
	case !ok:
		return false
	case r.Method == http.MethodDelete:
		s.done(w, s.Registrar.Remove(id))
	case strings.HasSuffix(id, "/drain"):
		only(http.MethodPost, func(w http.ResponseWriter, _ *http.Request) {
			s.done(w, s.Registrar.Drain(strings.TrimSuffix(id, "/drain"), true))
		})(w, r)
	case strings.HasSuffix(id, "/resume"):
		only(http.MethodPost, func(w http.ResponseWriter, _ *http.Request) {
			s.done(w, s.Registrar.Drain(strings.TrimSuffix(id, "/resume"), false))
		})(w, r)
	default:
		refuse(w, http.StatusNotFound, "there is POST /workers, DELETE /workers/ID, POST /workers/ID/drain and POST /workers/ID/resume")
	}
	return true
}

// register takes a worker as JSON.
func (s *server) register(w http.ResponseWriter, r *http.Request) {
	var body registration
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || d.More() {
		refuse(w, http.StatusBadRequest, `the body must be one worker, as {"url": "http://10.0.0.1:8000", "id": "gpu-1"}; its keys are those of workers[] but api_key_file, energy and headers`)
		return
	}
	s.done(w, s.Registrar.Register(config.Worker{
		URL: body.URL, ID: body.ID, Models: body.Models, Names: body.Names, Zone: body.Zone, Concurrency: body.Concurrency,
		KVTokens: body.KVTokens, KVLoad: body.KVLoad, Ranks: body.Ranks, Drain: body.Drain,
	}))
}

// done answers how a change of the workers ended, with the workers.
func (s *server) done(w http.ResponseWriter, err error) {
	if err != nil {
		s.changed(w, err)
		return
	}
	answer(w, workers(s.Gateway, s.Workers, time.Now()))
}

// sourceView is a place where workers are found.
type sourceView struct {
	Name    string   `json:"name"`
	Workers int      `json:"workers"`
	AgeS    *float64 `json:"age_seconds,omitempty"` // since they were found
	Error   string   `json:"error,omitempty"`
}

func sources(all []fleet.SourceStatus, now time.Time) []sourceView {
	out := []sourceView{}
	for _, s := range all {
		v := sourceView{Name: s.Name, Workers: s.Workers, Error: s.Error}
		if !s.Found.IsZero() {
			age := now.Sub(s.Found).Seconds()
			v.AgeS = &age
		}
		out = append(out, v)
	}
	return out
}
