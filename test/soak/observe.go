package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// metric returns the sum of a metric's series that have the label.
func (g *gateway) metric(name, label string) (float64, error) {
	resp, err := http.Get(g.admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	sum, lines := 0.0, bufio.NewScanner(resp.Body)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), " ")
		if at := strings.IndexByte(series+"{", '{'); series[:at] == name && strings.Contains(series[at:], label) {
			var v float64
			if _, err := fmt.Sscan(value, &v); err != nil {
				return 0, fmt.Errorf("%s: %w", lines.Text(), err)
			}
			sum += v
		}
	}
	return sum, lines.Err()
}

// memory returns the resident bytes of the gateway's own process.
func (g *gateway) memory() (bytes int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nVmRSS:")
	if _, err := fmt.Sscan(rest, &bytes); err != nil {
		return 0, fmt.Errorf("VmRSS: %w", err)
	}
	return bytes << 10, nil
}

// until polls a condition for so long at most.
func until(ctx context.Context, most time.Duration, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := holds()
		if ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
