package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runner is one process, as go-plugin's client wants to see it. It differs from
// go-plugin's own in that the process sits in a process group of its own, so
// that signals to the gateway's group do not reach it and nothing of it
// survives; ends when its host ends; and prints to a logger that no output can
// upset.
type runner struct {
	spec *Spec
	cmd  *exec.Cmd
	dir  string
	tail tail
	quit <-chan struct{} // the start's time is up, or its caller gives up
	why  func() error    // which of the two

	stdin  *os.File // its end tells the process that the host is gone
	line   string   // the handshake
	exited chan struct{}

	mu     sync.Mutex
	pid    int // 0 when not running
	status string
}

func newRunner(ctx context.Context, spec *Spec, dir string, env []string) *runner {
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env = append(env, "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR="+dir, envDir+"="+dir)
	cmd.Env = append(cmd.Env, spec.Env...)
	cmd.SysProcAttr = sysProcAttr()
	return &runner{spec: spec, cmd: cmd, dir: dir, quit: ctx.Done(), why: ctx.Err, exited: make(chan struct{})}
}

// Start forks and reads the handshake.
func (r *runner) Start(ctx context.Context) error {
	if err := checkSum(r.spec.Path, r.spec.SHA256); err != nil {
		close(r.exited)
		return r.failed(err, startHint(err))
	}
	var pipes [3][2]*os.File
	for i := range pipes {
		read, write, err := os.Pipe()
		if err != nil {
			for _, p := range pipes[:i] {
				p[0].Close()
				p[1].Close()
			}
			close(r.exited)
			return r.failed(err, "the system is short of file descriptors")
		}
		pipes[i] = [2]*os.File{read, write}
	}
	r.stdin = pipes[0][1]
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	stderr := &output{log: r.spec.Logger, tail: &r.tail}
	stdout := newFirstLine(&output{log: r.spec.Logger.With("stream", "stdout"), tail: &r.tail})

	started := make(chan error, 1)
	go r.run(started, pipes[1][0], pipes[2][0], stdout, stderr)
	if err := <-started; err != nil {
		return r.failed(err, startHint(err))
	}
	select {
	case r.line = <-stdout.found:
	case <-r.exited:
	case <-r.quit:
		_ = r.Kill(ctx)
		<-r.exited
	}
	if r.line == "" {
		select {
		case <-r.quit:
			if err := r.why(); errors.Is(err, context.Canceled) {
				return r.failed(fmt.Errorf("the start was given up: %w", err), "start it again")
			}
			return r.failed(fmt.Errorf("no handshake within %v: %w", r.spec.StartTimeout, r.why()), hintAuthor)
		default:
		}
		select {
		case r.line = <-stdout.found:
		default:
			return r.failed(fmt.Errorf("%w (%s)", errNoHandshake, r.status),
				"is it an executable that serves strategies, built for this gateway?")
		}
	}
	if hint, err := checkHandshake(r.line, r.spec); err != nil {
		_ = r.Kill(ctx)
		<-r.exited
		return r.failed(err, hint)
	}
	return nil
}

// run forks, waits and reaps, all on one thread: the parent-death signal
// follows the thread that forked, not the process.
func (r *runner) run(started chan<- error, stdout, stderr *os.File, first *firstLine, rest *output) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(r.exited)
	defer r.stdin.Close()
	defer stdout.Close()
	defer stderr.Close()
	r.mu.Lock()
	err := r.cmd.Start()
	if err == nil {
		r.pid = r.cmd.Process.Pid
	}
	r.mu.Unlock()
	for _, f := range []any{r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr} {
		f.(*os.File).Close()
	}
	started <- err
	if err != nil {
		return
	}
	var pumps sync.WaitGroup
	pumps.Go(func() { _, _ = io.Copy(first, stdout); first.end(); first.rest.flush() })
	pumps.Go(func() { _, _ = io.Copy(rest, stderr); rest.flush() })

	_ = r.cmd.Wait()
	r.mu.Lock()
	r.status = r.cmd.ProcessState.String()
	_ = syscall.Kill(-r.pid, syscall.SIGKILL) // what it left behind in its group
	r.pid = 0
	r.mu.Unlock()
	// Whoever holds the pipes still, outside the group, is not waited for long.
	deadline := time.Now().Add(time.Second)
	_ = stdout.SetReadDeadline(deadline)
	_ = stderr.SetReadDeadline(deadline)
	pumps.Wait()
}

func (r *runner) failed(err error, hint string) error {
	return &StartError{Plugin: r.spec.Name, Path: r.spec.Path, Output: r.tail.String(), Hint: hint, Err: err}
}

func startHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "build it, or correct its name, path or the plugin directories"
	case errors.Is(err, fs.ErrPermission):
		return "make it executable: chmod +x"
	case errors.Is(err, ErrInvalid):
		return "if the executable was replaced on purpose, pin its new checksum, which gatewayd plugin describe shows"
	case errors.Is(err, syscall.ENOEXEC):
		return "it is no program for this machine; build it for " + runtime.GOOS + "/" + runtime.GOARCH
	}
	return "can it be run by hand?"
}

// Kill ends the process and its group at once.
func (r *runner) Kill(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pid == 0 {
		return nil
	}
	return syscall.Kill(-r.pid, syscall.SIGKILL)
}

// Wait returns when the process has ended and its output is read.
func (r *runner) Wait(context.Context) error { <-r.exited; return nil }

func (r *runner) ended() bool {
	select {
	case <-r.exited:
		return true
	default:
		return false
	}
}

// Stdout gives go-plugin the handshake that was read already.
func (r *runner) Stdout() io.ReadCloser { return io.NopCloser(strings.NewReader(r.line + "\n")) }

// Stderr gives go-plugin nothing: the output is logged here.
func (r *runner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name returns the plugin's name.
func (r *runner) Name() string { return r.spec.Name }

// ID returns the number of the process, also after its end; "" if it never began.
func (r *runner) ID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd.Process == nil {
		return ""
	}
	return strconv.Itoa(r.cmd.Process.Pid)
}

// Diagnose adds nothing: Start has said it all.
func (r *runner) Diagnose(context.Context) string { return "" }

// PluginToHost changes nothing: both see the same files.
func (r *runner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin changes nothing: both see the same files.
func (r *runner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
