package http1

import (
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	for lines, want := range map[string]http.Header{
		"\r\n":                               {},
		"":                                   {},
		"a: b\r\n\r\n":                       {"A": {"b"}},
		"a: b\n\n":                           {"A": {"b"}},
		"a:b\r\n\r\n":                        {"A": {"b"}},
		"a: \t b c\t \r\n\r\n":               {"A": {"b c"}},
		"a:\r\nb: \r\n\r\n":                  {"A": {""}, "B": {""}},
		"a: b: c\r\n\r\n":                    {"A": {"b: c"}},
		"a: 1\r\nA: 2\r\nb: 3\r\na: 4\r\n":   {"A": {"1", "2", "4"}, "B": {"3"}},
		"x-aPI-kEY: 1\r\n\r\n":               {"X-Api-Key": {"1"}},
		"!#$%&'*+-.^_`|~09: 1\r\n\r\n":       {"!#$%&'*+-.^_`|~09": {"1"}},
		"a: caf\xc3\xa9 \xff \x80\r\n\r\n":   {"A": {"caf\xc3\xa9 \xff \x80"}},
		"a: \xc2\xa0b\r\n\r\n":               {"A": {"\xc2\xa0b"}}, // what others may take for a space
		"a: b\r\n\r\nGET / HTTP/1.1\r\n\r\n": {"A": {"b"}},
	} {
		var got Header
		if err := got.ReadFields(lines); err != nil || !reflect.DeepEqual(got.Map(), want) {
			t.Errorf("%q: %v, %v", lines, got, err)
		}
	}
}

func TestMalformedFields(t *testing.T) {
	bad := []string{
		"a\r\n", ": b\r\n", " a: b\r\n", "\ta: b\r\n", "a : b\r\n", "a\t: b\r\n", "a b: c\r\n",
		"a: b\r\n c\r\n", "a: b\r\n\tc\r\n", "a: b\r\n \r\n\r\n", // obs-fold
		"a: b\rc\r\n", "a: b\r\r\n", "\r: b\r\n", "a\r: b\r\n", "a: \x7f\r\n", "a: \x0b\r\n", "a: \x1b[0m\r\n",
		"caf\xc3\xa9: b\r\n", "a\xff: b\r\n", "\r\r\n",
	}
	for c := range 0x21 {
		bad = append(bad, "a"+string(rune(c))+"b: c\r\n")
		if c != '\t' && c != '\n' && c != ' ' {
			bad = append(bad, "a: b"+string(rune(c))+"c\r\n")
		}
	}
	for _, c := range `"(),/;<=>?@[\]{}` {
		bad = append(bad, "a"+string(c)+": b\r\n")
	}
	for _, lines := range bad {
		var got Header
		if err := got.ReadFields(lines + "\r\n"); err != ErrField || got != nil {
			t.Errorf("%q: %v, %v", lines, got, err)
		}
		if err := got.ReadFields("x: y\r\n" + lines + "z: 1\r\n\r\n"); err != ErrField || got != nil {
			t.Errorf("%q among others: %v, %v", lines, got, err)
		}
	}
}

// Many lines of one name take no room for many names.
func TestManyLinesOfOneName(t *testing.T) {
	const n = 10_000
	lines := strings.Repeat("a:\r\n", n) + "\r\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var h Header
	err := h.ReadFields(lines)
	runtime.ReadMemStats(&after)
	if err != nil || len(h) != n || len(h.Map()) != 1 || len(h.Values("A")) != n {
		t.Fatalf("%d fields, %d values, %v", len(h), len(h.Values("A")), err)
	}
	if perLine := (after.TotalAlloc - before.TotalAlloc) / n; perLine > 120 {
		t.Errorf("%d bytes for each line", perLine)
	}
}

// What is appended stays as many lines as there are fields with names that can be names, in
// their order.
func TestAppend(t *testing.T) {
	for _, c := range []struct {
		h    Header
		want string
	}{
		{Header{{"A", "b"}}, "A: b\r\n"},
		{Header{{"A", "b"}, {"A", ""}, {"A", "c\xff"}}, "A: b\r\nA: \r\nA: c\xff\r\n"},
		{Header{{"A", "b\r\nSet-Cookie: c"}}, "A: b  Set-Cookie: c\r\n"},
		{Header{{"A", "\n\nHTTP/1.1 200 OK\n\n"}}, "A:   HTTP/1.1 200 OK  \r\n"},
		{Header{{"A", "\x00\t\x7f\x1fé"}}, "A:  \t  é\r\n"},
		{Header{{"D", "4"}, {"B", "2"}, {"A", "1"}, {"C", "3"}, {"B", "1"}}, "D: 4\r\nB: 2\r\nA: 1\r\nC: 3\r\nB: 1\r\n"},
		{Header{{"A\r\nB", "c"}}, ""},
		{Header{{"A: b\nC", "d"}, {"", "e"}, {"F G", "h"}}, ""},
		{Header{{"Skipped", "b"}}, ""},
		{Header{{"A", "1"}, {"Skipped", "b"}, {"C D", "2"}, {"E", "3"}, {"Skipped", "c"}}, "A: 1\r\nE: 3\r\n"},
		{Header{}, ""},
		{nil, ""},
	} {
		if got := string(c.h.Append([]byte("x"), func(name string) bool { return name == "Skipped" })); got != "x"+c.want {
			t.Errorf("%q: %q", c.h, got)
		}
	}
}
