// Package option reads the options of a strategy and checks them against its
// declared list, so that every strategy refuses wrong options with the same
// clear words.
package option

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewayd/pkg/router"
)

// Set holds the options of one instance: those given, and the declared default
// of each other one. Its reading methods return a usable value in every case
// and remember what was wrong; ask Err after the last of them. It is not safe
// for concurrent use.
type Set struct {
	text  map[string]string
	given router.Options
	errs  []error
}

// Parse checks names and choices of the given options against the known ones.
func Parse(known []router.Option, given router.Options) *Set {
	s := &Set{text: make(map[string]string, len(known)), given: given}
	names := make([]string, 0, len(known))
	for _, o := range known {
		names = append(names, o.Name)
		s.text[o.Name] = o.Default
		v, ok := given[o.Name]
		switch {
		case !ok:
		case len(o.Values) > 0 && !slices.Contains(o.Values, v):
			s.fail(o.Name, "%q is not one of %s", v, strings.Join(o.Values, ", "))
		default:
			s.text[o.Name] = v
		}
	}
	slices.Sort(names)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := s.text[name]; !ok {
			s.errs = append(s.errs, unknown(name, names))
		}
	}
	return s
}

func unknown(name string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("unknown option %q: this strategy has no options", name)
	}
	return fmt.Errorf("unknown option %q: known are %s", name, strings.Join(names, ", "))
}

// Given reports whether the option was given, be it with its default value.
func (s *Set) Given(name string) bool { _, ok := s.given[name]; return ok }

// Word returns the text of an option.
func (s *Set) Word(name string) string { return s.lookup(name) }

// Float returns the number that an option must be, between low and high.
func (s *Set) Float(name string, low, high float64) float64 {
	text := s.lookup(name)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v < low || v > high {
		s.fail(name, "%q is not a number between %v and %v", text, low, high)
		return low
	}
	return v
}

// Int returns the whole number that an option must be, between low and high.
func (s *Set) Int(name string, low, high int) int {
	text := s.lookup(name)
	v, err := strconv.Atoi(text)
	if err != nil || v < low || v > high {
		s.fail(name, "%q is not a whole number between %d and %d", text, low, high)
		return low
	}
	return v
}

// Duration returns the duration that an option must be, between low and high.
func (s *Set) Duration(name string, low, high time.Duration) time.Duration {
	text := s.lookup(name)
	v, err := time.ParseDuration(text)
	if err != nil || v < low || v > high {
		s.fail(name, "%q is not a duration between %v and %v, such as 300s", text, low, high)
		return low
	}
	return v
}

// Err returns everything that was wrong with the options, nil if nothing was.
func (s *Set) Err() error { return errors.Join(s.errs...) }

func (s *Set) lookup(name string) string {
	text, ok := s.text[name]
	if !ok {
		s.fail(name, "is read but not declared")
	}
	return text
}

func (s *Set) fail(name, format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf("option %q: "+format, append([]any{name}, args...)...))
}
