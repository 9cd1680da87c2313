package repo

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
)

//go:embed lattice.txt
var latticeText string

// lattice finds imports and uses that lattice.txt does not allow.
func lattice(t *tree, report report) {
	paragraphs, err := parseLattice(latticeText)
	if err != nil {
		report("internal/repo/lattice.txt", err.Error())
	}
	seen := 0
	for f := range t.code() {
		for spec, imported := range f.imports() {
			seen++
			if spec.Name != nil && spec.Name.Name == "." {
				report(t.at(spec.Pos()), "a dot import hides what is used")
			}
			for _, p := range paragraphs {
				if !p.allows(f, imported) {
					report(t.at(spec.Pos()), fmt.Sprintf("%s must not import %s: %s",
						f.dir(), strings.TrimPrefix(imported, module), p.reason()))
				}
			}
		}
		for pos, name := range f.uses() {
			for _, p := range paragraphs {
				if !f.test() && p.binds(f) && p.has("uses", name) {
					report(t.at(pos), fmt.Sprintf("%s must not use %s: %s", f.dir(), name, p.reason()))
				}
			}
		}
	}
	if seen == 0 {
		report(".", "no import was looked at")
	}
}

// stale finds paragraphs of lattice.txt that speak of nothing: a misspelt
// pattern would otherwise guard nothing, in silence.
func stale(t *tree, report report) {
	paragraphs, _ := parseLattice(latticeText) // lattice reports the error
	files := slices.Collect(t.code())
	for _, p := range paragraphs {
		for _, pattern := range p["package"] {
			if !slices.ContainsFunc(files, func(f file) bool { return f.in(pattern) }) {
				report("internal/repo/lattice.txt", "no package matches "+pattern)
			}
		}
		if p["import"] != nil && !slices.ContainsFunc(files, p.meets) {
			report("internal/repo/lattice.txt", "nothing imports "+strings.Join(p["import"], " "))
		}
	}
}

func TestParseLattice(t *testing.T) {
	for text, want := range map[string]string{
		"package a\nnever b":                      "package a: no reason is given",
		"package a\nonly b\nbecause c":            `a paragraph that begins with "package" has a line "only"`,
		"import a\nnevr b\nbecause c":             `a paragraph that begins with "import" has a line "nevr"`,
		"never a\nbecause b":                      `a paragraph that begins with "never" has a line "never"`,
		"# only a comment\n\n\nimport a\nonly\n ": "import a: no reason is given",
	} {
		if _, err := parseLattice(text); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	if all, err := parseLattice(latticeText); err != nil || len(all) == 0 {
		t.Errorf("lattice.txt: %d paragraphs, error %v", len(all), err)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a/...", "a", true},
		{"a/...", "a/b/c", true},
		{"a/...", "ab", false},
		{"a/*", "a/b", true},
		{"a/*", "a/b/c", false},
		{"a/*/...", "a", false},
		{"a/*/...", "a/b/c", true},
		{"a/b*/...", "a/bc", true},
		{"a", "a/b", false},
		{"time.New*", "time.NewTimer", true},
		{"math/rand/v2.Int*", "math/rand/v2.IntN", true},
		{"math/rand/v2.Int*", "math/rand.IntN", false},
	} {
		if got := match(c.pattern, c.name); got != c.want {
			t.Errorf("match(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}
