package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gatewayd/internal/downstream"
	"gatewayd/internal/fleet"
)

// models answers with what all workers serve together, and with the aliases.
func (s *Server) models(w downstream.Writer, _ *downstream.Request) {
	b := bytes.NewBufferString(`{"object":"list","data":[`)
	for i, m := range s.listed() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m.JSON)
	}
	b.WriteString("]}\n")
	writeJSON(w, b.Bytes())
}

// model answers with one model. Names may hold slashes, also doubled ones.
func (s *Server) model(w downstream.Writer, r *downstream.Request) {
	_, id, _ := strings.Cut(r.Path, "/models/")
	for _, m := range s.listed() {
		if m.ID == id || m.ID == strings.Trim(id, "/") {
			b := append(make([]byte, 0, len(m.JSON)+1), m.JSON...)
			writeJSON(w, append(b, '\n'))
			return
		}
	}
	unknownModel(id).write(w)
}

// listed returns what requests may name, ordered by name: an alias looks like the
// model that it stands for, and hides a model of its own name.
func (s *Server) listed() []fleet.Model {
	known := s.workers.Snapshot().Models()
	if len(s.cfg.Aliases) == 0 {
		return known
	}
	all := make([]fleet.Model, 0, len(known)+len(s.cfg.Aliases))
	objects := make(map[string]json.RawMessage, len(known))
	for _, m := range known {
		objects[m.ID] = m.JSON
		if _, hidden := s.cfg.Aliases[m.ID]; !hidden {
			all = append(all, m)
		}
	}
	for alias, model := range s.cfg.Aliases {
		if object, ok := objects[model]; ok {
			all = append(all, fleet.Model{ID: alias, JSON: renamed(object, alias)})
		}
	}
	slices.SortFunc(all, func(a, b fleet.Model) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// renamed returns a model's object under another name.
func renamed(object json.RawMessage, id string) json.RawMessage {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return object
	}
	fields["id"], _ = json.Marshal(id) // a string always marshals
	out, err := json.Marshal(fields)
	if err != nil {
		return object
	}
	return out
}

// onlyModel is the model that a request means which names none.
func (x *exchange) onlyModel() (string, *apiError) {
	switch names := x.workers.Snapshot().Names(); len(names) {
	case 0:
		return "", x.notServed()
	case 1:
		return names[0], nil
	default:
		return "", badRequest("model", "model is missing, and the workers serve more than one; GET /v1/models lists them")
	}
}

func writeJSON(w downstream.Writer, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
}
