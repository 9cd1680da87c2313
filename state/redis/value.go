package redis

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A value begins with a line: "g1", then for snapshots the time of writing and
// for plans version, fence and time of writing. Numbers have 20 digits, so that
// they compare as text; times are the server's, in microseconds since 1970.
const (
	mark     = "g1"
	digits   = 20
	lineFact = len(mark) + 1
	lineSnap = lineFact + 1 + digits
	linePlan = lineFact + 3*(1+digits)
)

// line makes the first line of a value.
func line(numbers ...uint64) string {
	var b strings.Builder
	b.WriteString(mark)
	for _, n := range numbers {
		fmt.Fprintf(&b, " %0*d", digits, n)
	}
	b.WriteByte('\n')
	return b.String()
}

// number is the text of a number in values and scripts.
func number(n uint64) string { return fmt.Sprintf("%0*d", digits, n) }

// cut splits a value into the numbers of its line and the bytes behind it.
func cut(key string, value []byte, numbers []uint64) ([]byte, error) {
	end := bytes.IndexByte(value[:min(len(value), linePlan)], '\n')
	if end < 0 {
		return nil, wrong(key, "has no first line")
	}
	fields := strings.Split(string(value[:end]), " ")
	if fields[0] != mark || len(fields) != len(numbers)+1 {
		return nil, wrong(key, "is not in gatewayd's format")
	}
	for i, f := range fields[1:] {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil || len(f) != digits {
			return nil, wrong(key, "has a damaged first line")
		}
		numbers[i] = n
	}
	return value[end+1:], nil
}

// wrong is the error of a value that cannot be what this package wrote.
func wrong(key, what string) error {
	return fmt.Errorf("redis: value of key %q %s; it is ignored, and replaced by the next write", key, what)
}
