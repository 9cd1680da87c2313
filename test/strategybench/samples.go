package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Units of what benchmarks report.
const (
	onCore = "core-ns/op"
	allocs = "allocs/op"
	perKey = "B/key"
)

// samples holds what was measured, by name of benchmark and unit.
type samples map[string]map[string][]float64

func (s samples) add(name, unit string, value float64) {
	if s[name] == nil {
		s[name] = map[string][]float64{}
	}
	s[name][unit] = append(s[name][unit], value)
}

// read adds the lines of benchmarks in the output of go test; it passes over others.
func (s samples) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		for pair := range slices.Chunk(words[2:], 2) {
			if len(pair) != 2 {
				return fmt.Errorf("benchmark %s: a figure without a unit in %q", name, lines.Text())
			}
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil {
				return fmt.Errorf("benchmark %s: %w", name, err)
			}
			s.add(name, pair[1], value)
		}
	}
	return lines.Err()
}

// median is the middle of what was measured; ok is false if nothing was.
func (s samples) median(name, unit string) (value float64, ok bool) {
	sorted := slices.Sorted(slices.Values(s[name][unit]))
	if len(sorted) == 0 {
		return 0, false
	}
	return sorted[len(sorted)/2], true
}
