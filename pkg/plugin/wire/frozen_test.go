package wire

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

var update = flag.Bool("update", false, "add what is new in the protocol to the frozen list")

const (
	protoFile  = "../../../docs/protocol/strategy/v1/strategy.proto"
	frozenFile = "../../../docs/protocol/strategy/v1/frozen.txt"
)

// TestProtocolIsFrozen holds the generated code to the list of all that version 1
// has: nothing of it may change, and what is new must be added to it.
func TestProtocolIsFrozen(t *testing.T) {
	frozen := lines(t, frozenFile)
	now := described(File_strategy_proto)
	for _, line := range frozen {
		if !slices.Contains(now, line) {
			t.Errorf("protocol 1 does not have %q any more: what is frozen may not change; see docs/protocol/README.md", line)
		}
	}
	var added []string
	for _, line := range now {
		if !slices.Contains(frozen, line) {
			added = append(added, line)
		}
	}
	if *update && !t.Failed() {
		all := slices.Sorted(slices.Values(append(frozen, added...)))
		if err := os.WriteFile(frozenFile, []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range added {
		t.Errorf("%q is new in protocol 1: run go test ./pkg/plugin/wire -update once it is to stay for good", line)
	}
}

// TestProtoFileIsTheCode holds the published file to the generated code.
func TestProtoFileIsTheCode(t *testing.T) {
	file, code := parsed(t, lines(t, protoFile)), described(File_strategy_proto)
	for _, line := range file {
		if !slices.Contains(code, line) {
			t.Errorf("strategy.proto has %q, the generated code has not; run make proto", line)
		}
	}
	for _, line := range code {
		if !slices.Contains(file, line) {
			t.Errorf("the generated code has %q, strategy.proto has not; run make proto", line)
		}
	}
}

// described lists every field, value and call of the generated code.
func described(file protoreflect.FileDescriptor) (out []string) {
	name := func(d protoreflect.Descriptor) string { return string(d.Name()) }
	for i := range file.Messages().Len() {
		m := file.Messages().Get(i)
		out = append(out, "message "+name(m))
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			out = append(out, fmt.Sprintf("%s.%s = %d: %s", name(m), name(f), f.Number(), typeOf(f)))
		}
	}
	for i := range file.Enums().Len() {
		e := file.Enums().Get(i)
		for j := range e.Values().Len() {
			out = append(out, fmt.Sprintf("%s.%s = %d", name(e), name(e.Values().Get(j)), e.Values().Get(j).Number()))
		}
	}
	stream := map[bool]string{true: "stream "}
	for i := range file.Services().Len() {
		s := file.Services().Get(i)
		for j := range s.Methods().Len() {
			m := s.Methods().Get(j)
			out = append(out, fmt.Sprintf("%s.%s(%s%s) %s%s", name(s), name(m),
				stream[m.IsStreamingClient()], name(m.Input()), stream[m.IsStreamingServer()], name(m.Output())))
		}
	}
	return out
}

func typeOf(f protoreflect.FieldDescriptor) string {
	text := f.Kind().String()
	switch {
	case f.IsMap():
		return fmt.Sprintf("map<%s, %s>", f.MapKey().Kind(), f.MapValue().Kind())
	case f.Message() != nil:
		text = string(f.Message().Name())
	case f.Enum() != nil:
		text = string(f.Enum().Name())
	}
	if f.IsList() {
		text = "repeated " + text
	}
	if o := f.ContainingOneof(); o != nil {
		text += " in " + string(o.Name())
	}
	return text
}

var (
	blockBegins = regexp.MustCompile(`^(message|enum|oneof|service) (\w+) \{`)
	fieldLine   = regexp.MustCompile(`^((?:repeated )?[\w.]+|map<.*>) (\w+) = (\d+);`)
	valueLine   = regexp.MustCompile(`^(\w+) = (\d+);`)
	callLine    = regexp.MustCompile(`^rpc (\w+)\((.*)\) returns \((.*)\);`)
)

// parsed reads the lines of a .proto file as described lists them. It knows as
// much of the language as this file uses: one declaration a line.
func parsed(t *testing.T, lines []string) (out []string) {
	type block struct{ kind, name string }
	var in []block
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		if b := blockBegins.FindStringSubmatch(line); b != nil {
			if b[1] == "message" {
				out = append(out, "message "+b[2])
			}
			if !strings.HasSuffix(line, "}") {
				in = append(in, block{b[1], b[2]})
			}
			continue
		}
		if line == "}" {
			in = in[:len(in)-1]
			continue
		}
		if line == "" || len(in) == 0 {
			continue
		}
		switch at := in[len(in)-1]; at.kind {
		case "enum":
			v := valueLine.FindStringSubmatch(line)
			out = append(out, fmt.Sprintf("%s.%s = %s", at.name, v[1], v[2]))
		case "service":
			c := callLine.FindStringSubmatch(line)
			out = append(out, fmt.Sprintf("%s.%s(%s) %s", at.name, c[1], c[2], c[3]))
		default:
			f := fieldLine.FindStringSubmatch(line)
			if f == nil {
				t.Fatalf("%q is no field", line)
			}
			kind := f[1]
			if at.kind == "oneof" {
				kind += " in " + at.name
			}
			out = append(out, fmt.Sprintf("%s.%s = %s: %s", in[0].name, f[2], f[3], kind))
		}
	}
	return out
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !(*update && os.IsNotExist(err)) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
}
