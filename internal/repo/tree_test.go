package repo

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"path"
	"strings"
	"unicode/utf8"
)

// tree is the text of the repository, and its Go files parsed.
type tree struct {
	root  fs.FS
	fset  *token.FileSet
	files []file // in the order of their paths
}

// file is one text file.
type file struct {
	path string // from the root, with slashes
	text []byte
	code *ast.File // nil unless it is Go code of this module outside testdata
}

func (f file) dir() string { return path.Dir(f.path) }
func (f file) test() bool  { return strings.HasSuffix(f.path, "_test.go") }

// load reads what git would see under root, less the trees in this package's
// testdata, which break the rules on purpose.
func load(root fs.FS) (*tree, error) {
	t := &tree{root: root, fset: token.NewFileSet()}
	ignored := ignores(root)
	nested := "" // the module below the root that the walk entered last
	parsed := 0
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == ".git" || name == "internal/repo/testdata" || ignored(name) {
				return fs.SkipDir
			}
			if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil && name != "." {
				nested = name + "/"
			}
			return nil
		}
		if !d.Type().IsRegular() || ignored(name) {
			return nil
		}
		f := file{path: name}
		if f.text, err = fs.ReadFile(root, name); err != nil {
			return err
		}
		if !utf8.Valid(f.text) || bytes.ContainsRune(f.text, 0) {
			return nil
		}
		ours := (nested == "" || !strings.HasPrefix(name, nested)) && !strings.Contains("/"+name, "/testdata/")
		if ours && path.Ext(name) == ".go" {
			f.code, err = parser.ParseFile(t.fset, name, f.text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			parsed++
		}
		t.files = append(t.files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the repository: %w", err)
	}
	if parsed == 0 {
		return nil, errors.New("read the repository: no Go file found; is the root right?")
	}
	return t, nil
}

// ignores reads .gitignore, of which it knows /path/ and *.ext lines.
func ignores(root fs.FS) func(name string) bool {
	text, _ := fs.ReadFile(root, ".gitignore") // none: nothing is ignored
	lines := strings.Fields(string(text))
	return func(name string) bool {
		for _, line := range lines {
			line = strings.TrimSuffix(line, "/")
			if at, rooted := strings.CutPrefix(line, "/"); rooted && at == name {
				return true
			}
			if ok, _ := path.Match(line, path.Base(name)); ok {
				return true
			}
		}
		return false
	}
}

// code yields the Go files of this module.
func (t *tree) code() iter.Seq[file] {
	return func(yield func(file) bool) {
		for _, f := range t.files {
			if f.code != nil && !yield(f) {
				return
			}
		}
	}
}

// at names the place of a node.
func (t *tree) at(pos token.Pos) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}
