package telemetry

import (
	"strings"
	"sync"
)

// maxText bounds, in bytes, any text from outside in a span or a label.
const maxText = 256

// clean returns s as valid UTF-8 of at most maxText bytes: invalid text would
// make an exporter refuse the whole batch.
func clean(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// vocabulary is a bounded set of label values: a value that is not in it and
// no longer fits becomes Other. It is safe for concurrent use.
type vocabulary struct {
	limit  int
	closed bool // values enter by admit only

	mu     sync.RWMutex
	values map[string]string
}

// openVocabulary takes in the first limit values it sees, for values that come
// from workers or plugins.
func openVocabulary(limit int) *vocabulary {
	return &vocabulary{limit: limit, values: map[string]string{}}
}

// closedVocabulary takes in admitted values only, for values that clients send:
// they could fill an open one before the real values come.
func closedVocabulary(limit int) *vocabulary {
	return &vocabulary{limit: limit, closed: true, values: map[string]string{}}
}

// admit takes values in while there is room.
func (v *vocabulary) admit(values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, value := range values {
		if len(v.values) < v.limit {
			v.values[strings.Clone(value)] = strings.Clone(clean(value))
		}
	}
}

// of returns the label value for value.
func (v *vocabulary) of(value string) string {
	v.mu.RLock()
	label, known := v.values[value]
	full := v.closed || len(v.values) >= v.limit
	v.mu.RUnlock()
	if known {
		return label
	}
	if full || len(value) > maxText {
		return Other
	}
	v.admit(value)
	return v.of(value)
}

// memo makes a value once per key. It is as bounded as its keys are, and safe
// for concurrent use; of allocates only for a new key.
type memo[K comparable, V any] struct {
	make func(K) V

	mu   sync.RWMutex
	made map[K]V
}

func newMemo[K comparable, V any](make func(K) V) *memo[K, V] {
	return &memo[K, V]{make: make, made: map[K]V{}}
}

// of returns the key's value.
func (m *memo[K, V]) of(key K) V {
	m.mu.RLock()
	v, ok := m.made[key]
	m.mu.RUnlock()
	if ok {
		return v
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok = m.made[key]; !ok {
		v = m.make(key)
		m.made[key] = v
	}
	return v
}

// remove forgets the key and returns its value.
func (m *memo[K, V]) remove(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.made[key]
	delete(m.made, key)
	return v, ok
}
