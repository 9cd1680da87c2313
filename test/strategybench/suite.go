package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"time"
)

// suite is the benchmarks of one package.
type suite struct{ folder, names string }

var suites = []suite{
	{"pkg/router", "^Benchmark(Table|Decision)$/^(hit|table|hold|cost|rendezvous|rotation|builtin|twin)$/^(keys=1000000|workers=16)$"},
	{"pkg/estimator", "^BenchmarkRecord$/^(rates|twin)$/^keys=1000000$"},
	{"pkg/strategies/cacheroute", "^BenchmarkPlan$/^(paper|first|again|joined|whole|divided|wasted|twin)$"},
}

// build compiles the benchmarks of all suites into a folder.
func build(ctx context.Context, into string) error {
	args := []string{"test", "-c", "-o", into + string(filepath.Separator)}
	for _, s := range suites {
		args = append(args, "./"+s.folder)
	}
	if text, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("compile the benchmarks, from the root of the repository: %w\n%s", err, text)
	}
	return nil
}

// sample runs the benchmarks once, on one core.
func (s suite) sample(ctx context.Context, folder string, each time.Duration, all samples) error {
	cmd := exec.CommandContext(ctx, filepath.Join(folder, path.Base(s.folder)+".test"),
		"-test.run=^$", "-test.bench="+s.names, "-test.benchmem", "-test.cpu=1", "-test.benchtime="+each.String())
	cmd.Dir = s.folder
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("benchmarks of %s: %w\n%s", s.folder, err, text)
	}
	return all.read(bytes.NewReader(text))
}
