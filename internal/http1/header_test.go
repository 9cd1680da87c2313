package http1

import (
	"net/http"
	"reflect"
	"slices"
	"testing"
)

// What each method makes of fields, and how the others read them then.
func TestHeader(t *testing.T) {
	for name, c := range map[string]struct {
		begin  Header
		change func(h *Header)
		want   Header
	}{
		"add":                 {Header{{"B", "1"}, {"A", "2"}}, func(h *Header) { h.Add("B", "3") }, Header{{"B", "1"}, {"A", "2"}, {"B", "3"}}},
		"add to nothing":      {nil, func(h *Header) { h.Add("A", "") }, Header{{"A", ""}}},
		"set":                 {Header{{"B", "1"}, {"A", "2"}}, func(h *Header) { h.Set("B", "3") }, Header{{"B", "3"}, {"A", "2"}}},
		"set a new one":       {Header{{"B", "1"}}, func(h *Header) { h.Set("A", "2") }, Header{{"B", "1"}, {"A", "2"}}},
		"set to nothing":      {nil, func(h *Header) { h.Set("A", "1") }, Header{{"A", "1"}}},
		"set one of many":     {Header{{"B", "1"}, {"A", "2"}, {"C", "3"}, {"A", "4"}, {"A", "5"}, {"D", "6"}}, func(h *Header) { h.Set("A", "7") }, Header{{"B", "1"}, {"A", "7"}, {"C", "3"}, {"D", "6"}}},
		"set all":             {Header{{"A", "1"}, {"A", "2"}, {"A", "3"}}, func(h *Header) { h.Set("A", "4") }, Header{{"A", "4"}}},
		"delete":              {Header{{"A", "1"}, {"B", "2"}, {"A", "3"}, {"C", "4"}, {"A", "5"}}, func(h *Header) { h.Del("A") }, Header{{"B", "2"}, {"C", "4"}}},
		"delete all":          {Header{{"A", "1"}, {"A", "2"}}, func(h *Header) { h.Del("A") }, nil},
		"delete none":         {Header{{"A", "1"}, {"Aa", "2"}}, func(h *Header) { h.Del("a") }, Header{{"A", "1"}, {"Aa", "2"}}},
		"delete from nothing": {nil, func(h *Header) { h.Del("A") }, nil},
		"read":                {Header{{"B", "1"}}, func(h *Header) { h.ReadFields("c: 2\r\nb: 3\r\na:\r\n\r\nx: y\r\n") }, Header{{"B", "1"}, {"C", "2"}, {"B", "3"}, {"A", ""}}},
		"read nothing":        {Header{{"B", "1"}}, func(h *Header) { h.ReadFields("\r\n") }, Header{{"B", "1"}}},
		"read malformed ones": {Header{{"B", "1"}}, func(h *Header) { h.ReadFields("a: 2\r\nb\r\n\r\n") }, Header{{"B", "1"}}},
	} {
		h := slices.Clone(c.begin)
		if c.change(&h); !slices.Equal(h, c.want) {
			t.Errorf("%s: %q, want %q", name, h, c.want)
		}
		for _, field := range []string{"A", "a", "B", "C", "D", "X", ""} {
			var all []string
			for _, f := range c.want {
				if f.Name == field {
					all = append(all, f.Value)
				}
			}
			if h.Has(field) != (all != nil) || h.Get(field) != append(all, "")[0] || !reflect.DeepEqual(h.Values(field), all) || !reflect.DeepEqual(h.Map()[field], all) {
				t.Errorf("%s: %q: %v, %q, %q, %q, want %q", name, field, h.Has(field), h.Get(field), h.Values(field), h.Map()[field], all)
			}
		}
	}
}

// The fields of a map come in the order of their names, those of one name in their own, and
// make the same map again.
func TestHeaderOf(t *testing.T) {
	m := http.Header{"D": {"1"}, "B": {"3", "2", "3"}, "A": {""}, "C": {"4"}}
	h := HeaderOf(m)
	if want := (Header{{"A", ""}, {"B", "3"}, {"B", "2"}, {"B", "3"}, {"C", "4"}, {"D", "1"}}); !slices.Equal(h, want) || !reflect.DeepEqual(h.Map(), m) {
		t.Errorf("%q, and as a map %q", h, h.Map())
	}
	if none := HeaderOf(http.Header{"A": nil, "B": {}}); len(none) > 0 || len(HeaderOf(nil)) > 0 || Header(nil).Map() == nil {
		t.Errorf("%q of names without values", none)
	}
}

// A request is read as if it were the first, in the room that the one before has left.
func TestParseRequestAgain(t *testing.T) {
	heads := []string{
		"POST http://h/a%20b?c HTTP/1.0\r\nHost: g\r\nContent-Length: 7\r\nContent-Length: 7\r\nAccept: 1\r\nAccept: 2\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: g\r\nAccept: 3\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: g\r\nAccept: 4\r\nAccept\r\n\r\n",
		"GET /\r\nHost: g\r\n\r\n",
		"GET / HTTP/1.0\r\n\r\n",
	}
	var r Request
	for _, head := range append(heads, heads...) {
		var want Request
		werr, err := ParseRequest(&want, head), ParseRequest(&r, head)
		rest := r
		rest.Header = want.Header
		if err != werr || !slices.Equal(r.Header, want.Header) || !reflect.DeepEqual(rest, want) {
			t.Errorf("%q: %+v, %v, want %+v, %v", head, r, err, want, werr)
		}
	}
	room := &r.Header[:1][0]
	if n := testing.AllocsPerRun(100, func() { ParseRequest(&r, heads[1]) }); n > 0 || &r.Header[0] != room || len(r.Header) != 1 {
		t.Errorf("%v allocations for a request, in the same room: %v, %q", n, &r.Header[0] == room, r.Header)
	}
}
