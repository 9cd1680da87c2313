package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/pkg/router"
)

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("not a program"), 0o644); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(dir, "odd")
	if err := os.WriteFile(odd, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	quick := func(path string, args ...string) Spec {
		return Spec{Name: "test", Path: path, Args: args, StartTimeout: 300 * time.Millisecond}
	}
	test := func(kind string) Spec { return spec(kind, "") }
	slow := func(s Spec) Spec { s.StartTimeout = patience; return s }
	// Its time is up when it has said that it has got so far.
	ctx := func(s *Spec) context.Context {
		c := &untilPrinted{Context: t.Context(), done: make(chan struct{})}
		s.Logger = hclog.New(&hclog.LoggerOptions{Output: c})
		return c
	}
	for name, c := range map[string]struct {
		spec  Spec
		kind  error
		wants []string
	}{
		"missing":            {quick(filepath.Join(dir, "none")), fs.ErrNotExist, []string{"no such file", "hint: build it"}},
		"not executable":     {quick(plain), fs.ErrPermission, []string{"hint: make it executable: chmod +x"}},
		"no program":         {quick(odd), syscall.ENOEXEC, []string{"hint: it is no program for this machine"}},
		"exits":              {slow(quick("/bin/true")), errNoHandshake, []string{"exit status 0", "hint: is it an executable that serves"}},
		"fails":              {slow(quick(script(t, "echo cannot find my feet >&2; exit 3"))), errNoHandshake, []string{"exit status 3", "it printed: cannot find my feet"}},
		"leaves children":    {slow(quick(script(t, "sleep 1000 & exit 4"))), errNoHandshake, []string{"exit status 4"}},
		"says nothing":       {slow(quick(script(t, "echo its time is up >&2; exec sleep 1000"))), context.DeadlineExceeded, []string{"no handshake within 2m0s", "it printed: its time is up"}},
		"takes too long":     {quick(script(t, "exec sleep 1000")), context.DeadlineExceeded, []string{"no handshake within 300ms"}},
		"prints":             {test("noisy"), ErrInvalid, []string{`"hello from an author's init"`, "hint: the executable must serve strategies with plugin.Serve and print nothing"}},
		"prints no line":     {slow(quick(script(t, "printf hello"))), ErrInvalid, []string{`"hello"`}},
		"prints bars":        {slow(quick(script(t, "echo 'a|b|c|d|e'"))), ErrInvalid, []string{`"a|b|c|d|e"`}},
		"prints without end": {slow(quick(script(t, "exec tr '\\0' x </dev/zero"))), ErrInvalid, []string{"xxx..."}},
		"next version":       {test("next version"), ErrInvalid, []string{"speaks strategy protocol 2, this gateway speaks 1", "hint: rebuild"}},
		"other core":         {slow(quick(script(t, "echo '2|1|unix|/x|grpc'"))), ErrInvalid, []string{"core protocol 2, this gateway needs 1"}},
		"net/rpc":            {slow(quick(script(t, "echo '1|1|unix|/x|netrpc'"))), ErrInvalid, []string{`transport "netrpc"`}},
		"tcp":                {slow(quick(script(t, "echo '1|1|tcp|127.0.0.1:1|grpc'"))), ErrInvalid, []string{`network "tcp"`}},
		"no socket":          {slow(quick(script(t, "echo '1|1|unix|/nowhere/s|grpc'; exec cat"))), ErrDown, []string{"connect", "hint: the plugin's process runs but"}},
		"other cookie":       {test("other cookie"), errNoHandshake, []string{"exit status 1", "This binary is a plugin"}},
		"not a strategy":     {test("not a strategy"), ErrInvalid, []string{"breaks the protocol", "hint: the plugin's process runs but"}},
		"talks no gRPC":      {test("garbage"), ErrDown, []string{"connect", "connection to the plugin lost"}},
		"never answers":      {test("mute"), ErrLate, []string{"describe: plugin did not answer in time"}},
		"needs a path":       {Spec{Name: "x"}, nil, []string{"name and path are required"}},
		"names no program":   {Spec{Path: "x"}, nil, []string{"name and path are required"}},
	} {
		p, err := Launch(ctx(&c.spec), c.spec)
		if err == nil {
			p.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		if c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: %v is no %v", name, err, c.kind)
		}
		for _, want := range c.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q lacks %q", name, err, want)
			}
		}
	}
	noChildren(t)
}

// untilPrinted is a context whose deadline passes when "its time is up" is logged.
type untilPrinted struct {
	context.Context
	done chan struct{}
	once sync.Once
}

func (c *untilPrinted) Done() <-chan struct{} { return c.done }

func (c *untilPrinted) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Write takes a line of the log.
func (c *untilPrinted) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("its time is up")) {
		c.once.Do(func() { close(c.done) })
	}
	return len(p), nil
}

// noChildren fails if this process has children, dead or alive.
func noChildren(t *testing.T) {
	t.Helper()
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	if len(tasks) == 0 {
		t.Skip("this system does not list the children of a process")
	}
	for _, path := range tasks {
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
			t.Errorf("children are left: %s", b)
		}
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	p, err := Launch(t.Context(), spec("good", "route-only"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(t.Context(), nil, 1, "pool"); err != nil {
		t.Fatal(err)
	}
	if len(p.dir.path) > 60 {
		t.Errorf("the socket's directory %s is long", p.dir.path)
	}
	if _, err := os.Stat(p.dir.path); err != nil {
		t.Error(err)
	}
	p.Close()
	p.Close()
	receive(t, "the end", p.Done())
	if _, err := os.Stat(p.dir.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", p.dir.path, err)
	}
	if err := p.Err(); err != nil {
		t.Error("a closed process has failed:", err)
	}
	noChildren(t)
	_, err = p.Open(t.Context(), nil, 1, "pool")
	wantError(t, "open", err, ErrDown, "plugin test: open")
}

func TestHungProcessIsKilled(t *testing.T) {
	s := spec("good", "faulty")
	s.StopTimeout = 50 * time.Millisecond
	p := started(t, s)
	if err := syscall.Kill(p.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !isStopped(t, p.Pid()) {
		runtime.Gosched()
	}
	_, err := p.Open(soon(t), nil, 1, "pool")
	wantError(t, "open in a stopped process", err, ErrLate, "")
	p.Close()
	receive(t, "the end", p.Done())
	noChildren(t)
}

func TestSignalsToTheGroupDoNotEndAPlugin(t *testing.T) {
	p := started(t, spec("good", "faulty"))
	i, err := p.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	if group, err := syscall.Getpgid(p.Pid()); err != nil || group != p.Pid() {
		t.Errorf("the plugin's process group is %d, %v", group, err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(p.Pid(), signal); err != nil {
			t.Fatal(err)
		}
		if d, err := i.RouteContext(t.Context(), request("x"), TraceContext{}); err != nil || d.Reason != "x" {
			t.Errorf("after %v: %+v, %v", signal, d, err)
		}
	}
}

func TestCrash(t *testing.T) {
	var log logged
	s := spec("good", "faulty")
	s.Logger = log.logger()
	p := started(t, s)
	i, err := p.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	_, err = i.RouteContext(t.Context(), request("crash"), TraceContext{})
	wantError(t, "a crash", err, ErrDown, "connection to the plugin lost")
	receive(t, "the end", p.Done())
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "plugin test ended (exit status 2): panic: crash in route") {
		t.Error(err)
	}
	for _, want := range []string{
		"[ERROR] gatewayd: panic: crash in route: plugin=test\n", "[ERROR] gatewayd: goroutine ",
		"teststrategy.(*faulty).Route", "[ERROR] gatewayd: plugin ended: plugin=test",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
	if d := i.Route(request("x")); d.Reason != "plugin down" {
		t.Errorf("a route of a dead plugin: %+v", d)
	}
}

func TestEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("GATEWAYD_TEST_SECRET", "password")
	s := spec("good", "faulty")
	s.Env = append(s.Env, "GIVEN=1")
	i := opened(t, s)
	plan, err := i.Plan(router.PlanInput{Pool: "environment"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range strings.Split(plan.Note, "\n") {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"GATEWAYD_PLUGIN", "GATEWAYD_PLUGIN_DIR", "GIVEN", "GORACE", "PATH", "PLUGIN_MAX_PORT", "PLUGIN_MIN_PORT",
		"PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_UNIX_SOCKET_DIR", "TMPDIR",
	}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("the plugin's environment has %q, want %q", names, want)
	}
}

func TestDescriptorsAreNotInherited(t *testing.T) {
	before := descriptors(t, os.Getpid())
	secret, err := os.Create(filepath.Join(t.TempDir(), "secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mine := slices.DeleteFunc(descriptors(t, os.Getpid()), func(name string) bool {
		return slices.Contains(before, name) || strings.HasPrefix(name, "anon_inode:")
	})
	if len(mine) != 2 {
		t.Fatalf("a file and a listener are %v", mine)
	}
	p := started(t, spec("good", "faulty"))
	for _, name := range descriptors(t, p.Pid()) {
		if slices.Contains(mine, name) {
			t.Errorf("the plugin has inherited %s", name)
		}
	}
}

// descriptors lists what a process has open.
func descriptors(t *testing.T, pid int) (names []string) {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(links) == 0 {
		t.Skip("this system does not list what a process has open")
	}
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil {
			names = append(names, name)
		}
	}
	return names
}

func TestDescribeAndOpenByDefinition(t *testing.T) {
	p := started(t, spec("good", ""))
	about := p.Describe()
	if about.Protocol != Protocol || about.FeatureVersion != router.FeatureVersion || len(about.Definitions) != 3 {
		t.Fatalf("%+v", about)
	}
	d := about.Definitions[0]
	if d.Name != "route-only" || d.Version != "1.2.3" || d.Options[0].Default != "0" || len(d.Options[0].Values) != 2 {
		t.Errorf("%+v", d)
	}
	i, err := d.New(router.Options{"salt": "1"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := i.(router.Strategy).Route(request("x")); got.Verdict != router.Route {
		t.Errorf("%+v", got)
	}
	_, err = d.New(router.Options{"pepper": "1"}, 1)
	wantError(t, "an unknown option", err, ErrOption, "there is only salt, which is 0 or 1")
	_, err = p.Open(t.Context(), nil, 1, "pool")
	wantError(t, "an unnamed strategy", err, ErrUnknownStrategy, `plugin test serves ["route-only" "plan-only" "faulty"], not "test"`)

	wrong := started(t, spec("wrong", ""))
	_, err = wrong.Open(t.Context(), nil, 1, "events")
	wantError(t, "unknown events", err, ErrInvalid, "unknown event kind 99")
}

func TestResolve(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	path := filepath.Join(second, "joule")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(second, "text"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dirs := []string{first, second}
	for _, name := range []string{"joule", path} {
		if got, err := Resolve(name, dirs); err != nil || got != path {
			t.Errorf("Resolve(%s) = %s, %v", name, got, err)
		}
	}
	_, err := Resolve("text", dirs)
	wantError(t, "text", err, fs.ErrPermission, "not an executable file")
	_, err = Resolve("none", dirs)
	wantError(t, "none", err, fs.ErrNotExist, second)
	_, err = Resolve("./none", dirs)
	wantError(t, "./none", err, fs.ErrNotExist, "./none")
}

// TestStartIsGivenUp: a start that hangs ends when its caller gives it up, not
// when its time limit passes.
func TestStartIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := make(chan error, 1)
	go func() {
		_, err := Launch(ctx, Spec{Name: "mute", Path: "/bin/cat", StartTimeout: time.Hour})
		began <- err
	}()
	cancel()
	select {
	case err := <-began:
		if err == nil {
			t.Error("a process that says nothing was started")
		}
	case <-time.After(time.Minute):
		t.Fatal("the start goes on although its caller gave up")
	}
}
