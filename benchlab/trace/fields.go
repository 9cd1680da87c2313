package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

const (
	maxTokens = 1_000_000_000          // of one length; more is a mistake in the file
	maxMillis = 90 * 365 * 24 * 3600e3 // 90 years, so that no sum of three times overflows
)

// span reads a number of units (ms or s) that is not negative.
func span(name string, v gjson.Result, unit time.Duration) (time.Duration, error) {
	if v.Type != gjson.Number {
		return 0, problem{what: name + " is not a number", hint: spanHint(unit)}
	}
	return spanText(name, v.Raw, unit)
}

// spanText is span for a number that is not JSON.
func spanText(name, text string, unit time.Duration) (time.Duration, error) {
	most := float64(maxMillis*time.Millisecond) / float64(unit)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && float64(n) <= most {
		return time.Duration(n) * unit, nil
	}
	if d, ok := decimal(text, unit); ok && float64(d) <= most*float64(unit) {
		return d, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= most) {
		return 0, problem{what: fmt.Sprintf("%s is negative, out of range or no number: %s", name, clip(text)), hint: spanHint(unit)}
	}
	return time.Duration(math.Round(x * float64(unit))), nil
}

// decimal reads digits with a fraction to the nanosecond, as floating-point
// numbers cannot.
func decimal(text string, unit time.Duration) (time.Duration, bool) {
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(whole, 10, 62)
	if err != nil || time.Duration(n) > maxMillis*time.Millisecond/unit {
		return 0, false
	}
	d := time.Duration(n) * unit
	for _, c := range part {
		if unit /= 10; unit == 0 || c < '0' || c > '9' {
			return 0, false
		}
		d += time.Duration(c-'0') * unit
	}
	return d, true
}

func spanHint(unit time.Duration) string {
	if unit == time.Second {
		return "seconds from the start, 0 or more"
	}
	return "milliseconds from the start, 0 or more"
}

func tokens(name string, v gjson.Result) (int, error) {
	if v.Type == gjson.String {
		return tokensText(name, `"`+v.Str+`"`)
	}
	return tokensText(name, v.Raw)
}

// tokensText is tokens for a number that is not JSON.
func tokensText(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxTokens {
		return 0, problem{what: name + " is not a count of tokens: " + clip(text), hint: fmt.Sprintf("a whole number from 0 to %d", maxTokens)}
	}
	return n, nil
}

// ids reads a list of block ids.
func ids(name string, v gjson.Result) (list []uint64, err error) {
	if !v.IsArray() {
		return nil, problem{what: name + " is not a list", hint: "a list of whole numbers"}
	}
	rest := strings.TrimSpace(v.Raw)
	rest = strings.TrimSpace(rest[1 : len(rest)-1])
	if rest == "" {
		return []uint64{}, nil
	}
	list = make([]uint64, 0, strings.Count(rest, ",")+1)
	for part := range strings.SplitSeq(rest, ",") {
		part = strings.TrimSpace(part)
		id, parse := strconv.ParseUint(part, 10, 64)
		if parse != nil {
			return nil, problem{what: name + " holds " + clip(part), hint: "each id is a whole number from 0 to 2^64-1"}
		}
		list = append(list, id)
	}
	return list, nil
}

// name reads a string or a number as the name of something.
func name(what string, v gjson.Result, hint string) (string, error) {
	if v.Type != gjson.Number && v.Type != gjson.String {
		return "", problem{what: what + " is neither a number nor a string", hint: hint}
	}
	if len(v.Raw) > maxName {
		return "", problem{what: fmt.Sprintf("%s is longer than %d bytes", what, maxName), hint: hint}
	}
	return v.Raw, nil
}

const maxName = 1 << 10

// names keeps each string once and numbers it from 1 in the order of appearance.
type names map[string]uint64

func (n names) number(s string) uint64 {
	if i, ok := n[s]; ok {
		return i
	}
	i := uint64(len(n) + 1)
	n[strings.Clone(s)] = i // a clone, so as not to keep the line
	return i
}

// pool keeps equal strings once.
type pool map[string]string

func (p pool) one(s string) string {
	if s == "" {
		return ""
	}
	if kept, ok := p[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	p[s] = s
	return s
}
