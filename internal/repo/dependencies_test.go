package repo

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// row matches the first cell of a line of the table in docs/dependencies.md.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// dependencies compares the modules that the code imports and the tools of
// go.mod with the table in docs/dependencies.md, both ways.
func dependencies(t *tree, report report) {
	const page = "docs/dependencies.md"
	text, err := fs.ReadFile(t.root, page)
	if err != nil {
		report(page, err.Error())
	}
	explained := map[string]bool{}
	for _, m := range row.FindAllSubmatch(text, -1) {
		explained[string(m[1])] = true
	}
	used := modules(t, report)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !explained[name] {
			report(used[name], page+" does not say what "+name+" is for")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(explained)) {
		if used[name] == "" {
			report(page, "nothing imports "+name)
		}
	}
}

// modules returns the modules that the code needs directly, each with a place
// that needs it.
func modules(t *tree, report report) map[string]string {
	text, err := fs.ReadFile(t.root, "go.mod")
	if err != nil {
		report("go.mod", err.Error())
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		report("go.mod", err.Error())
		return nil
	}
	used := map[string]string{}
	use := func(where, imported string) {
		best := ""
		for _, r := range mod.Require {
			if name := r.Mod.Path; strings.HasPrefix(imported+"/", name+"/") && len(name) > len(best) {
				best = name
			}
		}
		if best == "" {
			report(where, "no module in go.mod provides "+imported)
		} else if used[best] == "" {
			used[best] = where
		}
	}
	for _, tool := range mod.Tool {
		use("go.mod", tool.Path)
	}
	for f := range t.code() {
		for spec, imported := range f.imports() {
			if class(imported) == "third-party" {
				use(t.at(spec.Pos()), imported)
			}
		}
	}
	return used
}
