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
		if got, err := Fields(lines); err != nil || !reflect.DeepEqual(got, want) {
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
		if got, err := Fields(lines + "\r\n"); err != ErrField {
			t.Errorf("%q: %v, %v", lines, got, err)
		}
		if got, err := Fields("x: y\r\n" + lines + "z: 1\r\n\r\n"); err != ErrField {
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
	h, err := Fields(lines)
	runtime.ReadMemStats(&after)
	if err != nil || len(h) != 1 || len(h["A"]) != n {
		t.Fatalf("%d names, %d values, %v", len(h), len(h["A"]), err)
	}
	if perLine := (after.TotalAlloc - before.TotalAlloc) / n; perLine > 120 {
		t.Errorf("%d bytes for each line", perLine)
	}
}

// What is appended stays as many lines as there are values, of the names that can be names.
func TestAppend(t *testing.T) {
	for _, c := range []struct {
		h    http.Header
		want string
	}{
		{http.Header{"A": {"b"}}, "A: b\r\n"},
		{http.Header{"A": {"b", "", "c\xff"}}, "A: b\r\nA: \r\nA: c\xff\r\n"},
		{http.Header{"A": {"b\r\nSet-Cookie: c"}}, "A: b  Set-Cookie: c\r\n"},
		{http.Header{"A": {"\n\nHTTP/1.1 200 OK\n\n"}}, "A:   HTTP/1.1 200 OK  \r\n"},
		{http.Header{"A": {"\x00\t\x7f\x1fé"}}, "A:  \t  é\r\n"},
		{http.Header{"D": {"4"}, "A": {"1"}, "C": {"3"}, "B": {"2", "1"}}, "A: 1\r\nB: 2\r\nB: 1\r\nC: 3\r\nD: 4\r\n"},
		{http.Header{"A\r\nB": {"c"}}, ""},
		{http.Header{"A: b\nC": {"d"}, "": {"e"}, "F G": {"h"}}, ""},
		{http.Header{"Skipped": {"b"}}, ""},
		{http.Header{"A": nil}, ""},
		{nil, ""},
	} {
		if got := string(Append([]byte("x"), c.h, func(name string) bool { return name == "Skipped" })); got != "x"+c.want {
			t.Errorf("%q: %q", c.h, got)
		}
	}
}
