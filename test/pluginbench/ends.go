package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// Arguments that make this executable a plugin.
const (
	asPlugin = "serve-plugin"
	asUnary  = "serve-unary"
)

// serve reports whether the argument asked for a plugin, which has ended then.
func serve(argument string) bool {
	switch argument {
	case asPlugin:
		plugin.Serve(definitions()...)
	case asUnary:
		serveUnary()
	default:
		return false
	}
	return true
}

// end is one way to ask the strategy.
type end struct {
	name  string
	route func(ctx context.Context, in router.Input) error
	pid   int // of the other end; 0: there is none
}

// ends are all of them, and the planner.
type ends struct {
	routes   []end
	planner  *plugin.Instance
	planning end // of the planner, for its CPU time
	close    func()
}

func open(ctx context.Context, s settings) (*ends, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process, err := plugin.Launch(ctx, plugin.Spec{Name: "bench", Path: self, Args: []string{asPlugin}, Strategy: "least", CallTimeout: time.Minute})
	if err != nil {
		return nil, err
	}
	stream, err := process.Open(ctx, nil, 1, "pool")
	if err != nil {
		process.Close()
		return nil, err
	}
	unary, err := openUnary(self, s.workers)
	if err != nil {
		process.Close()
		return nil, err
	}
	e := &ends{close: func() { process.Close(); unary.close() }}
	for _, d := range process.Describe().Definitions {
		if d.Name == "million" {
			planner, err := d.New(router.Options{"keys": strconv.Itoa(s.keys)}, 1)
			if err != nil {
				e.close()
				return nil, err
			}
			e.planner = planner.(*plugin.Instance)
		}
	}
	e.routes = []end{
		{"in this process", func(_ context.Context, in router.Input) error { least{}.Route(in); return nil }, 0},
		{"unary", unary.route, unary.pid},
		{"stream", func(ctx context.Context, in router.Input) error {
			_, err := stream.RouteContext(ctx, in, plugin.TraceContext{})
			return err
		}, process.Pid()},
	}
	e.planning = e.routes[2]
	return e, nil
}

// cpu is the time that both ends have used.
func (e end) cpu() (time.Duration, error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, err
	}
	used := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	if e.pid == 0 {
		return used, nil
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", e.pid, b)
	}
	for _, f := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat: %w", e.pid, err)
		}
		used += time.Duration(n) * 10 * time.Millisecond
	}
	return used, nil
}
