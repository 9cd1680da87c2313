package config

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

var update = flag.Bool("update", false, "write docs/config.md")

// TestLoad reads configurations and shows what they change against the
// defaults, or what is wrong with them.
func TestLoad(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "load" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			c, err := Load(strings.NewReader(d.Input), "gw.yaml")
			if err != nil {
				return err.Error() + "\n"
			}
			var out strings.Builder
			difference(&out, "", reflect.ValueOf(Default()), reflect.ValueOf(c))
			return out.String()
		})
	})
}

// difference writes the settings of b that are not those of a.
func difference(out *strings.Builder, path string, a, b reflect.Value) {
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return
	}
	switch {
	case b.Kind() == reflect.Struct && b.Type() != strategyType && b.Type() != secretType:
		for s := range settings(b.Type()) {
			difference(out, join(path, s.name), a.FieldByIndex(s.index), b.FieldByIndex(s.index))
		}
	case b.Kind() == reflect.Slice:
		for i := range b.Len() {
			difference(out, fmt.Sprintf("%s[%d]", path, i), reflect.Zero(b.Type().Elem()), b.Index(i))
		}
		if b.Len() == 0 {
			fmt.Fprintf(out, "%s: empty\n", path)
		}
	default:
		fmt.Fprintf(out, "%s: %v\n", path, b)
	}
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	for _, file := range files {
		if _, err := LoadFile(file); err != nil {
			t.Error(err)
		}
	}
}

func TestDocs(t *testing.T) {
	const file = "../../docs/config.md"
	var want bytes.Buffer
	if err := WriteDocs(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/config.md is not what WriteDocs writes: run go test ./internal/config -update")
	}
}

// TestTags makes sure that every setting is documented and that its default
// lies in its range, and that ranges come in pairs and can be read.
func TestTags(t *testing.T) {
	seen := 0
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		for s := range settings(v.Type()) {
			seen++
			f, at := v.FieldByIndex(s.index), join(path, s.name)
			if s.doc == "" || (s.least == "") != (s.most == "") {
				t.Errorf("%s: doc %q, range %q to %q", at, s.doc, s.least, s.most)
			}
			if s.least != "" && (setScalar(reflect.New(f.Type()).Elem(), s.least) != nil || setScalar(reflect.New(f.Type()).Elem(), s.most) != nil) {
				t.Errorf("%s: range %q to %q cannot be read", at, s.least, s.most)
			}
			if k := f.Kind(); (f.CanInt() || f.CanFloat()) && s.least == "" {
				t.Errorf("%s: a %v without a range", at, k)
			}
			inner := f.Type()
			if inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && inner != strategyType {
				walk(at, reflect.New(inner).Elem())
			}
		}
	}
	walk("", reflect.ValueOf(Default()))
	if seen < 50 {
		t.Errorf("only %d settings were seen", seen)
	}
}

func TestDefaultNeedsOnlyAWorker(t *testing.T) {
	c := Default()
	var e *Error
	if err := c.Validate(); !errors.As(err, &e) || len(e.Problems) != 1 || e.Problems[0].Path != "workers" {
		t.Errorf("no workers: %v", err)
	}
	named, found, registered := c, c, c
	named.Workers = []Worker{{URL: "http://127.0.0.1:8000"}}
	found.Discovery.Sources = []Source{{DNS: "llama.internal:8000"}}
	registered.Discovery.Register = []string{"10.0.0.0/8"}
	for what, c := range map[string]Config{"named": named, "found": found, "registered": registered} {
		if err := c.Validate(); err != nil {
			t.Errorf("a worker that is %s: %v", what, err)
		}
	}
}
