package http1

import (
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// Field is a line of a head: a name and what stands behind it.
type Field struct{ Name, Value string }

// Header is the fields of a head in the order of their lines. Names are in canonical
// form (http.CanonicalHeaderKey), also those that its methods are given. A head has a
// dozen of fields: to walk over them is several times as fast as a map. Copies share their
// room, so that no more than one of them may be changed.
type Header []Field

// HeaderOf returns the fields of a map, whose names are canonical, in the order of them.
func HeaderOf(m http.Header) Header {
	h := make(Header, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		for _, v := range m[name] {
			h = append(h, Field{name, v})
		}
	}
	return h
}

// Map returns the fields as a map.
func (h Header) Map() http.Header {
	m := make(http.Header, len(h))
	for _, f := range h {
		m[f.Name] = append(m[f.Name], f.Value)
	}
	return m
}

// find returns the place of the first field of a name, -1 if there is none.
func (h Header) find(name string) int {
	for i := range h {
		if h[i].Name == name {
			return i
		}
	}
	return -1
}

// Has reports whether there is a field of a name.
func (h Header) Has(name string) bool { return h.find(name) >= 0 }

// Get returns the first value of a name, "" if there is none.
func (h Header) Get(name string) string {
	if i := h.find(name); i >= 0 {
		return h[i].Value
	}
	return ""
}

// Values returns all values of a name.
func (h Header) Values(name string) (all []string) {
	for _, f := range h {
		if f.Name == name {
			all = append(all, f.Value)
		}
	}
	return all
}

// Add adds a field behind all others.
func (h *Header) Add(name, value string) { *h = append(*h, Field{name, value}) }

// Set makes the field the only one of its name.
func (h *Header) Set(name, value string) {
	i := h.find(name)
	if i < 0 {
		h.Add(name, value)
		return
	}
	(*h)[i].Value = value
	rest := (*h)[i+1:]
	rest.Del(name)
	*h = (*h)[:i+1+len(rest)]
}

// Del takes out the fields of a name.
func (h *Header) Del(name string) {
	if h.Has(name) {
		*h = slices.DeleteFunc(*h, func(f Field) bool { return f.Name == name })
	}
}

// ReadFields reads the fields of a head behind its first line and adds them. Lines that
// go on with the next one (RFC 9112, 5.2) are an error.
func (h *Header) ReadFields(lines string) error {
	all := *h
	if n := strings.Count(lines, "\n"); n > cap(all)-len(all) {
		all = slices.Grow(all, n)
	}
	for lines != "" {
		var line string
		if line, lines = Cut(lines); line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		if !ok || !isToken(name) || !isText(value) {
			return ErrField
		}
		all = append(all, Field{textproto.CanonicalMIMEHeaderKey(name), value})
	}
	*h = all
	return nil
}

// Append appends the lines of the fields to b, but for those whose name skip is true
// for, and those whose name is no token. A value cannot end its line: its control
// characters become spaces.
func (h Header) Append(b []byte, skip func(name string) bool) []byte {
	for _, f := range h {
		if skip(f.Name) || !isToken(f.Name) {
			continue
		}
		b = append(append(b, f.Name...), ": "...)
		b = append(appendText(b, f.Value), "\r\n"...)
	}
	return b
}

func appendText(b []byte, v string) []byte {
	from := len(b)
	b = append(b, v...)
	if isText(v) {
		return b
	}
	for i, c := range b[from:] {
		if c < ' ' && c != '\t' || c == 0x7f {
			b[from+i] = ' '
		}
	}
	return b
}
