package config

import (
	"iter"
	"reflect"
	"strings"
)

// setting is one field of a struct of settings.
type setting struct {
	name        string
	index       []int
	doc         string
	least, most string   // range, as text; "" where there is none
	words       []string // allowed words; empty if any
}

// settings yields the settings of a struct type in order.
func settings(t reflect.Type) iter.Seq[setting] {
	return func(yield func(setting) bool) {
		for _, f := range reflect.VisibleFields(t) {
			name, ok := f.Tag.Lookup("yaml")
			if !ok {
				continue
			}
			s := setting{
				name: name, index: f.Index, doc: f.Tag.Get("doc"),
				least: f.Tag.Get("min"), most: f.Tag.Get("max"),
				words: strings.Fields(f.Tag.Get("oneof")),
			}
			if !yield(s) {
				return
			}
		}
	}
}
