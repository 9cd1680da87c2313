package fleet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// record is what is known of one worker at one moment.
type record struct {
	member  Member // without adapters
	listing *listing
	ramp    int // requests that its slow start admits, 0 if it has none
}

// build makes a snapshot from the records of all workers. A worker that never
// was up makes its models known, but is a member of no pool yet.
func build(number uint64, records []record) *Snapshot {
	records = slices.SortedFunc(slices.Values(records), func(a, b record) int {
		return cmp.Compare(a.member.ID, b.member.ID)
	})
	s := &Snapshot{Number: number, pools: map[string][]Member{}, adapters: map[string]string{}}
	objects := map[string][]json.RawMessage{}
	for _, r := range records {
		for _, base := range r.listing.bases {
			m := r.member
			m.Adapters, m.ramp = r.listing.adapters[base], r.ramp
			if m.Incarnation != 0 {
				s.pools[base] = append(s.pools[base], m)
			} else if s.pools[base] == nil {
				s.pools[base] = []Member{}
			}
			for _, id := range append([]string{base}, m.Adapters...) {
				objects[id] = append(objects[id], r.listing.objects[id])
			}
		}
	}
	for _, members := range s.pools {
		ease(members)
	}
	for _, r := range records {
		for _, base := range r.listing.bases {
			for _, adapter := range r.listing.adapters[base] {
				s.adopt(adapter, base)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(objects)) {
		s.models = append(s.models, Model{ID: id, JSON: mergeObjects(id, objects[id])})
	}
	return s
}

// ease lets workers start slowly if another one of their pool is up in full: if
// none is, requests have nowhere else to go.
func ease(members []Member) {
	full := func(m Member) bool { return !m.Down && m.Admit == 0 && m.ramp == 0 }
	if !slices.ContainsFunc(members, full) {
		return
	}
	for i := range members {
		if m := &members[i]; m.Admit == 0 {
			m.Admit = m.ramp
		}
	}
}

// adopt says which pool serves an adapter: of several the first by name, and
// none where it is a base model itself.
func (s *Snapshot) adopt(adapter, base string) {
	if _, ok := s.pools[adapter]; ok {
		return
	}
	if other, ok := s.adapters[adapter]; !ok || base < other {
		s.adapters[adapter] = base
	}
}

// mergeObjects joins what several workers list under one ID: the first one's
// values, then those that only later ones have. What no worker says is filled in.
func mergeObjects(id string, objects []json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	seen := map[string]bool{}
	put := func(key string, value json.RawMessage) {
		if seen[key] {
			return
		}
		if len(seen) > 0 {
			out.WriteByte(',')
		}
		seen[key] = true
		name, _ := json.Marshal(key) // a string always marshals
		out.Write(name)
		out.WriteByte(':')
		json.Compact(&out, value)
	}
	quoted, _ := json.Marshal(id)
	put("id", quoted)
	put("object", json.RawMessage(`"model"`))
	for _, object := range objects {
		var fields map[string]json.RawMessage
		if json.Unmarshal(object, &fields) != nil {
			continue // nil: a configured model that the worker does not list
		}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			put(key, fields[key])
		}
	}
	put("created", json.RawMessage("0"))
	put("owned_by", json.RawMessage(`"gatewayd"`))
	out.WriteByte('}')
	return out.Bytes()
}
