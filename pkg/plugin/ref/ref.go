// Package ref reads and writes how strategies are named on a command line and
// in a config: NAME|PATH[:key=value...], and chains of those joined with "+".
//
//	joule:mode=carbon:slack=3
//	sticky+joule
//	./build/mine:alpha=0.5+least-busy
package ref

import (
	"fmt"
	"slices"
	"strings"
)

// Ref names one strategy and its options.
type Ref struct {
	// Name is a strategy's name in kebab-case, or the path of an executable if
	// it contains a slash.
	Name string
	// Options are the options by name; nil if there are none.
	Options map[string]string
	// SHA256 is the checksum that its executable must have, in hexadecimal; ""
	// allows any. Only a config can give it: it is no part of the text.
	SHA256 string
}

// IsPath reports whether the ref names an executable by its path.
func (r Ref) IsPath() bool { return strings.Contains(r.Name, "/") }

// String returns the ref in the syntax of Parse, with the options in order.
func (r Ref) String() string {
	keys := make([]string, 0, len(r.Options))
	for k := range r.Options {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	b.WriteString(r.Name)
	for _, k := range keys {
		fmt.Fprintf(&b, ":%s=%s", k, r.Options[k])
	}
	return b.String()
}

// Parse reads one strategy with its options. The name ends at the first colon,
// so a path cannot contain one, and neither can the value of an option.
func Parse(s string) (Ref, error) {
	parts := strings.Split(s, ":")
	r := Ref{Name: parts[0]}
	if !r.IsPath() && !kebab(r.Name) {
		return Ref{}, fmt.Errorf("strategy %q: %q is neither a name (lower case letters, digits and dashes) nor a path (with a slash)", s, r.Name)
	}
	for _, part := range parts[1:] {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" {
			return Ref{}, fmt.Errorf("strategy %q: option %q is not of the form key=value", s, part)
		}
		if _, ok := r.Options[key]; ok {
			return Ref{}, fmt.Errorf("strategy %q: option %q is given twice", s, key)
		}
		if r.Options == nil {
			r.Options = map[string]string{}
		}
		r.Options[key] = value
	}
	return r, nil
}

// ParseChain reads a chain of strategies joined with "+", in order.
func ParseChain(s string) ([]Ref, error) {
	var chain []Ref
	for _, part := range strings.Split(s, "+") {
		r, err := Parse(part)
		if err != nil {
			if part != s {
				return nil, fmt.Errorf("chain %q: %w", s, err)
			}
			return nil, err
		}
		chain = append(chain, r)
	}
	return chain, nil
}

func kebab(name string) bool {
	for _, word := range strings.Split(name, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}
