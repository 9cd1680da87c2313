package fleet

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"gatewayd/internal/config"
	"gatewayd/internal/http1"
	"gatewayd/pkg/router"
)

// Member is one worker of a pool. Its Load is unknown: see Fleet.Loads.
type Member struct {
	router.Member
	URL *url.URL // base URL that API paths are joined to; not to be changed
	// Openings counts how often its breaker has opened.
	Openings uint64

	ramp    int // requests that its slow start admits, 0 if it has none
	key     config.Secret
	headers http1.Header
	names   map[string]string
}

// NameOf returns the worker's own name for a model or adapter.
func (m *Member) NameOf(model string) string {
	if own, ok := m.names[model]; ok {
		return own
	}
	return model
}

// Decorate sets the request headers that this worker is to get: its configured
// ones, and its key as a bearer token.
func (m *Member) Decorate(h *http1.Header) {
	for _, f := range m.headers {
		h.Set(f.Name, f.Value)
	}
	if !m.key.Empty() {
		h.Set(bearer(m.key))
	}
}

// Model is one entry of the model list.
type Model struct {
	ID string
	// JSON is the object that workers list for it, with owned_by and what else
	// they say; those of several workers are merged, the first by ID wins.
	JSON json.RawMessage
}

// Snapshot is the fleet at one moment. It is immutable: nobody may change what
// its methods return.
type Snapshot struct {
	// Number grows with every snapshot.
	Number   uint64
	pools    map[string][]Member
	adapters map[string]string // adapter -> pool
	models   []Model
}

// Pools returns the members of every pool by base model, ordered by ID. Those
// that take no requests at the moment are marked Down; those that never did are
// left out. A pool without any that does is still known.
func (s *Snapshot) Pools() map[string][]Member { return s.pools }

// Names returns the names of the pools in order.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.pools)) }

// Lookup says which pool serves a model, and by which adapter ("" for the base
// model itself). It is not ok if no worker has ever listed the model.
func (s *Snapshot) Lookup(model string) (pool, adapter string, ok bool) {
	if _, ok := s.pools[model]; ok {
		return model, "", true
	}
	pool, ok = s.adapters[model]
	if !ok {
		return "", "", false
	}
	return pool, model, true
}

// Models returns what requests may name, base models and adapters, ordered by
// ID; models whose workers are all down are among them.
func (s *Snapshot) Models() []Model { return s.models }
