package repo

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// comments finds packages and public names without a doc comment.
func comments(t *tree, report report) {
	described := map[string]bool{} // by folder
	for f := range t.code() {
		described[f.dir()] = described[f.dir()] || describes(f)
		if f.test() || f.code.Name.Name == "main" || ast.IsGenerated(f.code) {
			continue
		}
		for _, decl := range f.code.Decls {
			for _, id := range bare(decl) {
				report(t.at(id.Pos()), id.Name+" is public and has no doc comment")
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(described)) {
		if !described[dir] {
			report(dir, "no doc comment begins with \"Package NAME\"; a main may begin as it likes")
		}
	}
}

// describes reports whether f holds the doc comment of its package.
func describes(f file) bool {
	doc, name := f.code.Doc.Text(), f.code.Name.Name
	return strings.HasPrefix(doc, "Package "+name+" ") || name == "main" && doc != ""
}

// bare returns the public names that a declaration leaves without a comment.
// The comment of a group speaks for its constants and variables.
func bare(decl ast.Decl) []*ast.Ident {
	var names []*ast.Ident
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiver(d).IsExported()) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Doc == nil && (d.Doc == nil || d.Lparen != token.NoPos) {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if s.Doc == nil && s.Comment == nil && d.Doc == nil {
					names = append(names, s.Names...)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(id *ast.Ident) bool { return !id.IsExported() })
}

// receiver returns the name of a method's type, without star and parameters.
func receiver(d *ast.FuncDecl) *ast.Ident {
	for node := range ast.Preorder(d.Recv.List[0].Type) {
		if id, ok := node.(*ast.Ident); ok {
			return id
		}
	}
	return ast.NewIdent("_")
}
