package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// decoder fills settings from a parsed file and notes everything that does not
// fit: it goes on after a problem, so that one reading reports them all.
//
// The library's own decoder is not used because it turns 5.5 into 5 and text
// into numbers, ignores a second document, and stops at the first problem.
type decoder struct {
	problems
	anchors map[string]ast.Node
	entered int // into lists and mappings
}

func newDecoder() *decoder {
	return &decoder{problems: problems{places: map[string]position{"": {1, 1}}}, anchors: map[string]ast.Node{}}
}

// enters counts what goes into lists and mappings, and reports whether there is room.
// A file without aliases never has as many entries as bytes; with them it could have
// its square.
func (d *decoder) enters(n ast.Node, path string) bool {
	if d.entered++; d.entered == maxFile+1 {
		d.here(start(n), path, fmt.Sprintf("aliases make more than %d entries of the file", maxFile), "use fewer aliases")
	}
	return d.entered <= maxFile
}

// value sets v, the setting at path, from a node.
func (d *decoder) value(n ast.Node, v reflect.Value, path string) {
	n = d.resolve(n)
	if n == nil {
		return
	}
	d.places[path] = start(n)
	switch v.Kind() {
	case reflect.Struct:
		switch v.Type() {
		case strategyType:
			d.strategy(n, v, path)
		case secretType:
			d.scalar(n, v, path)
		default:
			d.fields(n, v, path)
		}
	case reflect.Slice:
		d.items(n, v, path)
	case reflect.Map:
		d.entries(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

// fields sets the fields of a struct from a mapping.
func (d *decoder) fields(n ast.Node, v reflect.Value, path string) {
	d.pairs(n, v.Type(), path, func(key *token.Token, value ast.Node) {
		var known []string
		for field := range settings(v.Type()) {
			if field.name == key.Value {
				d.value(value, v.FieldByIndex(field.index), join(path, key.Value))
				return
			}
			known = append(known, field.name)
		}
		d.here(place(key), path, "unknown key "+quote(key.Value), nearest(key.Value, known))
	})
}

// items sets a slice from a sequence.
func (d *decoder) items(n ast.Node, v reflect.Value, path string) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.mismatch(n, v.Type(), path)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values)))
	for i, item := range list.Values {
		if !d.enters(item, path) {
			return
		}
		d.value(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

// entries sets a map from a mapping. Single values of any type count as text
// where the map holds text: an option's 10 is "10".
func (d *decoder) entries(n ast.Node, v reflect.Value, path string) {
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, v.Type(), path, func(key *token.Token, value ast.Node) {
		item := reflect.New(v.Type().Elem()).Elem()
		at := join(path, key.Value)
		if text, ok := scalarText(value); ok && item.Kind() == reflect.String {
			d.places[at] = start(value)
			item.SetString(text)
		} else {
			d.value(value, item, at)
		}
		v.SetMapIndex(reflect.ValueOf(key.Value), item)
	})
}

// pairs calls f for each pair of a mapping.
func (d *decoder) pairs(n ast.Node, t reflect.Type, path string, f func(key *token.Token, value ast.Node)) {
	m, ok := n.(ast.MapNode)
	if !ok {
		d.mismatch(n, t, path)
		return
	}
	for it := m.MapRange(); it.Next(); {
		if key := it.Key(); !d.enters(key, path) {
			return
		} else if key.IsMergeKey() {
			d.here(place(key.GetToken()), path, "merge keys are not supported", "write the keys out, or refer to a whole mapping with *name")
		} else {
			f(key.GetToken(), it.Value())
		}
	}
}

// scalar sets a single value, whose type in the file must fit.
func (d *decoder) scalar(n ast.Node, v reflect.Value, path string) {
	text, ok := scalarText(n)
	switch n.Type() {
	case ast.StringType, ast.LiteralType:
		// The parser takes a plain 1e6 for text.
		plain := n.GetToken().Type == token.StringType
		ok = v.Kind() == reflect.String || v.Type() == secretType || v.Type() == durationType || v.Type() == bytesType || plain && v.CanFloat()
	case ast.BoolType:
		ok = v.Kind() == reflect.Bool
	case ast.IntegerType:
		ok = v.Type() != durationType && (v.CanInt() || v.CanFloat())
	case ast.FloatType:
		ok = v.CanFloat()
	}
	if !ok {
		d.mismatch(n, v.Type(), path)
		return
	}
	if err := setScalar(v, text); err != nil {
		_, hint := kindName(v.Type())
		d.here(start(n), path, err.Error(), hint)
	}
}

// mismatch notes that a node is not of the type that a setting has.
func (d *decoder) mismatch(n ast.Node, t reflect.Type, path string) {
	expected, hint := kindName(t)
	var found string
	switch text, ok := scalarText(n); {
	case ok:
		found = quote(text)
	case n.Type() == ast.NullType:
		found, hint = "nothing", "give it a value, or remove the key for its default"
	case n.Type() == ast.SequenceType:
		found = "a list"
	default:
		found = "a " + strings.ToLower(n.Type().YAMLName())
	}
	d.here(start(n), path, fmt.Sprintf("expected %s, found %s", expected, found), hint)
}

// resolve follows anchors and aliases; it notes a problem and returns nil
// where that does not lead to a value.
func (d *decoder) resolve(n ast.Node) ast.Node {
	for range maxAliases {
		switch t := n.(type) {
		case *ast.AnchorNode:
			d.anchors[t.Name.GetToken().Value] = t.Value
			n = t.Value
		case *ast.AliasNode:
			name := t.Value.GetToken()
			target, ok := d.anchors[name.Value]
			if !ok {
				d.here(place(name), "", fmt.Sprintf("unknown anchor %q", name.Value), "an anchor (&name) comes before its aliases (*name)")
				return nil
			}
			n = target
		case *ast.TagNode:
			d.here(place(t.Start), "", "tags are not supported", "remove "+t.Start.Value)
			return nil
		default:
			return n
		}
	}
	d.here(start(n), "", "the alias leads to itself", "")
	return nil
}

// maxAliases bounds the anchors and aliases in front of one value.
const maxAliases = 8

// scalarText returns the text of a single value as it is written.
func scalarText(n ast.Node) (string, bool) {
	switch t := n.(type) {
	case *ast.StringNode:
		return t.Value, true
	case *ast.LiteralNode:
		return t.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// start returns where a node begins in the file.
func start(n ast.Node) position {
	switch t := n.(type) {
	case *ast.AnchorNode:
		return place(t.Start)
	case ast.MapNode:
		if it := t.MapRange(); n.Type() == ast.MappingType && it.Next() {
			return place(it.Key().GetToken())
		}
	}
	return place(n.GetToken())
}

func place(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
