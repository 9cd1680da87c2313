package scan

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

var texts = []string{
	``, ` `, `{}`, `[]`, ` { } `, `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{,}`, `[1,]`, `[,1]`, `[1 2]`, `[}`, `{]`, `{"a":[}`,
	`"`, `"a`, `"a"`, `"a" `, `"a"b`, `"\`, `"\"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u12Fe"`, `"\\"`, `"\\\"`, "\"\n\"", "\"\x1f\"", "\"\x7f\"", "\"\xff\"", `"日本"`,
	`"\ud83d\ude00"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00"`, `"a\nb\tc\rd\be\ff\/g\"h\\i"`, `"\ud83d\ud83d\ude00"`,
	`true`, `tru`, `truex`, `false`, `null`, `nul`, `0`, `00`, `01`, `-`, `-0`, `1.`, `.1`, `1.5`, `1e`, `1e5`, `1E+5`, `1e-`, `+1`, `--1`, `0x1`, `1 `, `NaN`,
	`{"a":{"b":[1,"x",{"c":null}],"d":"]}"},"e":true}`, "\t\r\n[ 1 ,\n2 , {\"a\" : [ ] } ] ", "\v1", "[1]\x00", "{\"a\":1}\ufeff",
	`{"":"","a\n":1,"\u0061":2}`, strings.Repeat(`"12345678`, 2) + `"`, `["1234567\n","12345678\n","123456\n"]`, `"` + strings.Repeat("x", 100) + "\n" + `"`,
}

// agree fails unless the package and two other readers say the same of a text.
func agree(t *testing.T, text string) {
	t.Helper()
	d, err := Check(text)
	if errors.Is(err, ErrDeep) {
		return
	}
	if valid := gjson.Valid(text); valid != (err == nil) {
		t.Fatalf("%q: %v, but gjson says %v", text, err, valid)
	}
	if valid := json.Valid([]byte(text)); valid != (err == nil) {
		t.Fatalf("%q: %v, but encoding/json says %v", text, err, valid)
	}
	if err == nil {
		root := d.Root()
		if root.Raw != strings.Trim(text, " \t\r\n") || text[root.Index:root.Index+len(root.Raw)] != root.Raw {
			t.Fatalf("%q: the root is %+v", text, root)
		}
		same(t, &d, root)
	}
}

// same compares each value within a text with what other readers see in its place.
func same(t *testing.T, d *Document, of Value) {
	t.Helper()
	raw := of.Raw
	if IsString(raw) && utf8.ValidString(raw) {
		var want string
		if err := json.Unmarshal([]byte(raw), &want); err != nil || String(raw) != want {
			t.Fatalf("%s says %q, want %q", raw, String(raw), want)
		}
	}
	var want []gjson.Result
	g := gjson.Parse(raw)
	var names []string
	if g.IsObject() || g.IsArray() {
		g.ForEach(func(k, v gjson.Result) bool { names, want = append(names, k.Raw), append(want, v); return true })
	}
	i := 0
	d.Each(of, func(v Value) bool {
		if i >= len(want) || v.Raw != want[i].Raw || d.text[v.Index:v.Index+len(v.Raw)] != v.Raw || v.Name != String(names[i]) {
			t.Fatalf("%q: value %d is %+v, want %v", raw, i, v, want)
		}
		same(t, d, v)
		i++
		return true
	})
	if i != len(want) {
		t.Fatalf("%q: %d values, want %d", raw, i, len(want))
	}
}

func TestAgree(t *testing.T) {
	for _, text := range texts {
		agree(t, text)
		agree(t, `{"x":[`+text+`,`+text+`]}`)
	}
}

// TestFirst holds that a value is read alike whatever follows it, and nothing is taken
// for one that is none.
func TestFirst(t *testing.T) {
	for _, text := range texts {
		whole, err := Check(text)
		for _, more := range []string{"", " x", "}", "]", ",1", `"`, "\x00"} {
			first, ferr := First(text + more)
			switch {
			case err == nil && (ferr != nil || first.Root() != whole.Root()):
				t.Errorf("%q and %q: %+v, %v, want %+v", text, more, first, ferr, whole.Root())
			case ferr == nil:
				agree(t, first.text)
			}
		}
	}
	if _, err := First(strings.Repeat("[", MaxDepth+1)); err != ErrDeep {
		t.Errorf("%v for one that is too deep", err)
	}
}

func FuzzAgree(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(agree)
}

func TestDepth(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		end := map[string]string{"[": "]", `{"a":`: "}"}[open]
		nested := func(n int) string { return strings.Repeat(open, n) + "1" + strings.Repeat(end, n) }
		if _, err := Check(nested(MaxDepth)); err != nil {
			t.Errorf("%s: %v at the greatest depth", open, err)
		}
		if _, err := Check(nested(MaxDepth + 1)); err != ErrDeep {
			t.Errorf("%s: %v one deeper", open, err)
		}
		if _, err := Check(strings.Repeat(open, MaxDepth)); err != ErrInvalid {
			t.Errorf("%s: %v without an end", open, err)
		}
	}
}

// TestStop holds that Each ends when it is told to.
func TestStop(t *testing.T) {
	n := 0
	d := checked(t, `[1,2,3]`)
	d.Each(d.Root(), func(Value) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

func TestMember(t *testing.T) {
	d := checked(t, ` {"a": [1], "b": "x", "a": 2, "d": {"c": 3}}`)
	for name, want := range map[string]string{"a": "[1]", "b": `"x"`, "c": ""} {
		if got := d.Member(d.Root(), name).Raw; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !IsObject("{}") || IsObject("[]") || !IsArray("[]") || IsArray("") {
		t.Error("kinds are confused")
	}
}

// TestLongValues holds that what is remembered of a text is right, wherever a value is
// just long enough, and not more than is good.
func TestLongValues(t *testing.T) {
	for n := range 2 * spanBytes {
		text := strings.Repeat("x", n)
		agree(t, `{"a":"`+text+`","b":[["`+text+`"],{"`+text+`":"\"`+text+`"}],"c":`+strings.Repeat("[", 2*spanDepth)+`"`+text+`"`+strings.Repeat("]", 2*spanDepth)+`}`)
	}
	deep := strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1)
	d := checked(t, "["+strings.Repeat(deep+",", 100)+deep+"]")
	if most := spanDepth * len(d.text) / spanBytes; len(d.long) > most {
		t.Errorf("%d values are remembered, more than %d", len(d.long), most)
	}
}

func checked(t testing.TB, text string) *Document {
	t.Helper()
	d, err := Check(text)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// TestDecode holds that a string says the same however small the buffer is.
func TestDecode(t *testing.T) {
	for _, text := range append(texts, `"`+strings.Repeat(`0123456789\n\u00e9\"`, 20)+`"`) {
		if _, err := Check(text); err != nil || !IsString(text) || text[len(text)-1] != '"' {
			continue
		}
		for size := wordBytes; size < 40; size++ {
			var said []byte
			buf := make([]byte, size)
			for at := 1; at < len(text)-1; {
				n, next := Decode(buf, text, at)
				if next <= at {
					t.Fatalf("%s: from %d on nothing is read", text, at)
				}
				said, at = append(said, buf[:n]...), next
			}
			if string(said) != String(text) {
				t.Errorf("%s says %q in pieces of %d, want %q", text, said, size, String(text))
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	d := checked(t, prompt())
	buf := make([]byte, 1<<10)
	if n := testing.AllocsPerRun(10, func() {
		d.Each(d.Root(), func(list Value) bool {
			d.Each(list, func(v Value) bool {
				content := d.Member(v, "content").Raw
				for at := 1; at < len(content)-1; {
					_, at = Decode(buf, content, at)
				}
				return true
			})
			return true
		})
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// prompt is a body of 200 KB, as a client in Python writes one.
func prompt() string {
	message := `{"role": "user", "content": "` + strings.Repeat(`Some words of a line, as many as fit on one, and \"quotes\".\n`, 40) + `"}`
	return `{"model": "m", "messages": [` + strings.Repeat(message+", ", 200<<10/len(message)) + message + `], "stream": true}`
}

// BenchmarkCheck is set beside two other readers of the same text.
func BenchmarkCheck(b *testing.B) {
	text := prompt()
	bytes := []byte(text)
	for name, valid := range map[string]func() bool{
		"scan":          func() bool { _, err := Check(text); return err == nil },
		"gjson":         func() bool { return gjson.Valid(text) },
		"encoding-json": func() bool { return json.Valid(bytes) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if !valid() {
					b.Fatal("not valid")
				}
			}
		})
	}
}
