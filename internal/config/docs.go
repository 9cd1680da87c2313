package config

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
)

const docsHead = `# Configuration

<!-- Generated from internal/config; go test ./internal/config -update writes it. -->

` + "`gatewayd serve --config FILE`" + ` reads one YAML document. ` + "`gatewayd check --config FILE`" + ` reads it, says what
is wrong, and stops. Reading is strict: an unknown key, a value of the wrong type and a value out of range are errors
with file, line, column and a hint. Everything but the workers has a default.

- Durations are a number with a unit: ` + "`500ms`, `5s`, `2m`, `1h`" + `.
- Sizes are bytes, or a number with a unit: ` + "`64KiB`, `32MiB`, `1GiB`" + `.
- Relative paths start at the folder of the configuration file.
- Anchors and aliases work (` + "`&h100`, `*h100`" + `); merge keys and tags do not.

The least configuration is one worker:

` + "```yaml\nworkers:\n  - url: http://127.0.0.1:8000\n```\n"

// WriteDocs writes the reference of all settings as Markdown.
func WriteDocs(w io.Writer) error {
	out := &sections{done: map[reflect.Type]bool{}}
	out.WriteString(docsHead)
	out.section("", reflect.ValueOf(Default()))
	_, err := io.WriteString(w, out.String())
	return err
}

// sections is the reference, one section for each struct.
type sections struct {
	strings.Builder
	done map[reflect.Type]bool // what is described
}

// section writes one struct of settings, then those within it.
func (out *sections) section(path string, v reflect.Value) {
	if out.done[v.Type()] {
		return
	}
	out.done[v.Type()] = true
	title := "The document"
	if path != "" {
		title = "`" + path + "`"
	}
	fmt.Fprintf(out, "\n## %s\n\n| key | type | default | meaning |\n|---|---|---|---|\n", title)
	for s := range settings(v.Type()) {
		out.row(s, v.FieldByIndex(s.index), path)
	}
	for s := range settings(v.Type()) {
		f, at := v.FieldByIndex(s.index), join(path, s.name)
		switch f.Kind() {
		case reflect.Slice:
			if f.Type().Elem() == strategyType {
				out.strategies(at)
			} else if f.Type().Elem().Kind() == reflect.Struct {
				out.section(at+"[]", reflect.New(f.Type().Elem()).Elem())
			}
		case reflect.Map:
			if f.Type().Elem().Kind() == reflect.Struct {
				out.section(at+".NAME", reflect.New(f.Type().Elem()).Elem())
			}
		case reflect.Struct:
			if f.Type() != secretType {
				out.section(at, f)
			}
		}
	}
}

func (out *sections) row(s setting, v reflect.Value, path string) {
	kind, _ := kindName(v.Type())
	meaning := s.doc
	if s.least != "" {
		meaning += fmt.Sprintf(" (%s to %s)", s.least, s.most)
	}
	if len(s.words) > 0 {
		meaning += fmt.Sprintf(" (%s)", strings.Join(s.words, ", "))
	}
	fmt.Fprintf(out, "| `%s` | %s | %s | %s |\n", s.name, kind, defaultText(v), strings.ReplaceAll(meaning, "|", `\|`))
}

// strategies writes the two forms of a strategy.
func (out *sections) strategies(path string) {
	fmt.Fprintf(out, "\n## `%s[]`\n\nEither text, `NAME` or `PATH` with options as `:key=value`, or a mapping:\n", path)
	fmt.Fprint(out, "\n| key | type | default | meaning |\n|---|---|---|---|\n")
	form := reflect.ValueOf(strategyForm{})
	for s := range settings(form.Type()) {
		out.row(s, form.FieldByIndex(s.index), path)
	}
	fmt.Fprint(out, "\n```yaml\nstrategies:\n  - cacheroute\n  - joule:mode=carbon\n  - path: ./build/mine\n    options: {alpha: 0.5}\n```\n")
}

// defaultText returns a setting's default as it would be written.
func defaultText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == secretType {
			return "`\"\"`"
		}
		return "see below"
	case reflect.Map:
		var items []string
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			items = append(items, fmt.Sprintf("%v: %v", key, v.MapIndex(key)))
		}
		if items == nil {
			return "none"
		}
		return "`{" + strings.Join(items, ", ") + "}`"
	case reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, fmt.Sprint(v.Index(i)))
		}
		if items == nil {
			return "none"
		}
		return "`[" + strings.Join(items, ", ") + "]`"
	case reflect.String:
		if v.String() == "" {
			return "`\"\"`"
		}
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return "`" + durationText(d) + "`"
	}
	return fmt.Sprintf("`%v`", v)
}

// durationText writes a duration without zero minutes and seconds.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
