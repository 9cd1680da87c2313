package repo

import (
	"go/ast"
	"go/token"
	"iter"
	"path"
	"strconv"
	"strings"
)

// module is the import path prefix of this repository.
const module = "gatewayd/"

// imports yields the import paths of f.
func (f file) imports() iter.Seq2[*ast.ImportSpec, string] {
	return func(yield func(*ast.ImportSpec, string) bool) {
		for _, spec := range f.code.Imports {
			name, _ := strconv.Unquote(spec.Path.Value) // the parser checked it
			if !yield(spec, name) {
				return
			}
		}
	}
}

// uses yields each name that f takes from a package, as import path, dot, name.
func (f file) uses() iter.Seq2[token.Pos, string] {
	paths := map[string]string{}
	for spec, imported := range f.imports() {
		paths[localName(spec, imported)] = imported
	}
	return func(yield func(token.Pos, string) bool) {
		for node := range ast.Preorder(f.code) {
			sel, ok := node.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			id, ok := sel.X.(*ast.Ident)
			if !ok || paths[id.Name] == "" {
				continue
			}
			if !yield(sel.Pos(), paths[id.Name]+"."+sel.Sel.Name) {
				return
			}
		}
	}
}

func localName(spec *ast.ImportSpec, imported string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	last := path.Base(imported)
	if v, ok := strings.CutPrefix(last, "v"); ok && strings.Trim(v, "0123456789") == "" {
		last = path.Base(path.Dir(imported))
	}
	return last
}
