package gateway

import (
	"bytes"
	"net/http"
	"strings"
)

// models answers with what all workers serve together.
func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	b := bytes.NewBufferString(`{"object":"list","data":[`)
	for i, m := range s.workers.Snapshot().Models() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m.JSON)
	}
	b.WriteString("]}\n")
	writeJSON(w, b.Bytes())
}

// model answers with one model. Names may hold slashes, also doubled ones.
func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	_, id, _ := strings.Cut(r.URL.Path, "/models/")
	for _, m := range s.workers.Snapshot().Models() {
		if m.ID == id || m.ID == strings.Trim(id, "/") {
			b := append(make([]byte, 0, len(m.JSON)+1), m.JSON...)
			writeJSON(w, append(b, '\n'))
			return
		}
	}
	unknownModel(id).write(w)
}

func writeJSON(w http.ResponseWriter, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(b)
}
