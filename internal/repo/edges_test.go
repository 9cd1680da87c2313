package repo

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// edges is one paragraph of lattice.txt: the words of its lines by the first.
type edges map[string][]string

// lines is what may begin a line, and the kind of paragraph it stands in.
var lines = map[string]string{
	"package": "package", "except": "package", "imports": "package", "never": "package", "uses": "package",
	"import": "import", "only": "import",
	"tests": "either", "because": "either",
}

func parseLattice(text string) ([]edges, error) {
	var all []edges
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		p, kind := edges{}, ""
		for line := range strings.Lines(paragraph) {
			words := strings.Fields(line)
			if len(words) == 0 || strings.HasPrefix(words[0], "#") {
				continue
			}
			if kind == "" {
				kind = words[0]
			}
			if of := lines[words[0]]; of != kind && of != "either" {
				return nil, fmt.Errorf("a paragraph that begins with %q has a line %q", kind, words[0])
			}
			p[words[0]] = append(p[words[0]], words[1:]...)
		}
		if kind == "" {
			continue
		}
		if len(p["because"]) == 0 {
			return nil, fmt.Errorf("%s %s: no reason is given", kind, strings.Join(p[kind], " "))
		}
		all = append(all, p)
	}
	return all, nil
}

func (p edges) reason() string { return strings.Join(p["because"], " ") }

// binds reports whether the paragraph speaks of f's package.
func (p edges) binds(f file) bool {
	return slices.ContainsFunc(p["package"], f.in) && !slices.ContainsFunc(p["except"], f.in)
}

// meets reports whether f imports what the paragraph speaks of.
func (p edges) meets(f file) bool {
	for _, imported := range f.imports() {
		if p.has("import", imported) {
			return true
		}
	}
	return false
}

// has reports whether a pattern of the line matches the import path or the
// qualified name.
func (p edges) has(line, name string) bool {
	return slices.ContainsFunc(p[line], func(pattern string) bool {
		return match(pattern, strings.TrimPrefix(name, module)) || match(pattern, class(name))
	})
}

// allows reports whether the paragraph lets f import what is named.
func (p edges) allows(f file, imported string) bool {
	switch {
	case p.has("import", imported):
		return slices.ContainsFunc(p["only"], f.in) || f.test() && slices.ContainsFunc(p["tests"], f.in)
	case !p.binds(f) || imported == module+f.dir():
		return true
	case f.test() && p.has("tests", imported):
		return true
	case p["imports"] != nil && !p.has("imports", imported):
		return false
	}
	return f.test() || !p.has("never", imported)
}

// in reports whether the pattern names f or its folder.
func (f file) in(pattern string) bool {
	return match(pattern, f.dir()) || strings.HasSuffix(pattern, ".go") && match(pattern, f.path)
}

// class is the word of lattice.txt for a whole class of import paths.
func class(imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case strings.HasPrefix(imported, module):
		return "ours"
	case strings.Contains(first, "."):
		return "third-party"
	}
	return "std"
}

// match compares element by element: "..." stands for any number of elements,
// also none; in an element * and [] mean what they mean for file names.
func match(pattern, name string) bool {
	elements, names := strings.Split(pattern, "/"), strings.Split(name, "/")
	for i, element := range elements {
		if element == "..." {
			return true
		}
		if i >= len(names) {
			return false
		}
		if ok, _ := path.Match(element, names[i]); !ok {
			return false
		}
	}
	return len(elements) == len(names)
}
