package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// listing is what a worker serves. It is immutable.
type listing struct {
	bases    []string                   // base models, sorted
	adapters map[string][]string        // base model -> its adapters, sorted
	objects  map[string]json.RawMessage // what the worker lists, by ID
}

// maxModels bounds the models that one worker may list.
const maxModels = 4096

// parseListing reads a worker's answer to GET /v1/models. An entry with a
// parent is an adapter of that model. Where models are given, only they and
// their adapters count. A model in own is listed by the worker's name for it and
// counts by its key.
func parseListing(body []byte, given []string, own map[string]string) (*listing, error) {
	var answer struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, errors.New("the model list is no JSON object with a list named data")
	}
	if len(answer.Data) > maxModels {
		return nil, fmt.Errorf("the model list has more than %d entries", maxModels)
	}
	name := make(map[string]string, len(own))
	for model, its := range own {
		name[its] = model
	}
	l := staticListing(given)
	type child struct{ id, parent string }
	var children []child
	first := "" // the first base model in the worker's own order
	for _, object := range answer.Data {
		var entry struct {
			ID     string  `json:"id"`
			Parent *string `json:"parent"`
		}
		if json.Unmarshal(object, &entry) != nil || entry.ID == "" {
			continue
		}
		entry.ID = cmp.Or(name[entry.ID], entry.ID)
		if entry.Parent != nil && *entry.Parent != "" && *entry.Parent != entry.ID {
			children = append(children, child{entry.ID, cmp.Or(name[*entry.Parent], *entry.Parent)})
		} else if given != nil && !slices.Contains(given, entry.ID) {
			continue
		} else {
			l.bases = insert(l.bases, entry.ID)
			first = cmp.Or(first, entry.ID)
		}
		l.objects[entry.ID] = object
	}
	for _, c := range children {
		l.adopt(c.id, c.parent, first)
	}
	return l, nil
}

// staticListing is what a worker serves that lists nothing.
func staticListing(given []string) *listing {
	l := &listing{adapters: map[string][]string{}, objects: map[string]json.RawMessage{}}
	for _, m := range given {
		l.bases = insert(l.bases, m)
	}
	return l
}

// adopt adds an adapter to its base model. vLLM names as parent whatever it
// was told with the adapter; one that it does not serve stands for its first.
func (l *listing) adopt(adapter, parent, first string) {
	if !slices.Contains(l.bases, parent) {
		parent = first
	}
	if parent == "" {
		delete(l.objects, adapter)
		return
	}
	l.adapters[parent] = insert(l.adapters[parent], adapter)
}

// insert adds a name to a sorted list without repetition.
func insert(names []string, name string) []string {
	i, found := slices.BinarySearch(names, name)
	if found {
		return names
	}
	return slices.Insert(names, i, name)
}

// same reports whether two listings say the same, but for the objects' times.
func (l *listing) same(m *listing) bool {
	if len(l.objects) != len(m.objects) || !slices.Equal(l.bases, m.bases) || len(l.adapters) != len(m.adapters) {
		return false
	}
	for id := range l.objects {
		if _, ok := m.objects[id]; !ok {
			return false
		}
	}
	for base, adapters := range l.adapters {
		if !slices.Equal(adapters, m.adapters[base]) {
			return false
		}
	}
	return true
}
