package plugin

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPluginEndsWithItsHost(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		host := exec.Command(os.Args[0])
		host.Env = append(os.Environ(), envHost+"=1", "TMPDIR=/tmp")
		if _, err := host.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		next := func() string { lines.Scan(); return lines.Text() }
		pid, err := strconv.Atoi(next())
		if err != nil {
			t.Fatal("the host says", lines.Text())
		}
		dir := next()
		if sockets, _ := filepath.Glob(dir + "/*/*"); len(sockets) != 1 {
			t.Errorf("in %s there are the sockets %v", dir, sockets)
		}
		plugin, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(plugin)
		if stopped {
			if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			for !isStopped(t, pid) {
				runtime.Gosched()
			}
		}
		if err := host.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = host.Wait()
		wait := []unix.PollFd{{Fd: int32(plugin), Events: unix.POLLIN}}
		n, err := unix.Poll(wait, int(patience.Milliseconds()))
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Poll(wait, int(patience.Milliseconds()))
		}
		if n != 1 {
			t.Fatalf("plugin %d (stopped: %v) lives on without its host: %v", pid, stopped, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
}

// isStopped reports whether SIGSTOP has reached all threads of the process.
func isStopped(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatal("no threads:", err)
	}
	for _, path := range threads {
		if b, err := os.ReadFile(path); err == nil && !strings.Contains(string(b), ") T ") {
			return false
		}
	}
	return true
}

func TestDirectoriesOfDeadHostsAreSwept(t *testing.T) {
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	if len(base) > maxBase {
		base = "/tmp"
	}
	alive, err := newTempDir()
	if err != nil {
		t.Fatal(err)
	}
	defer alive.remove()
	dead, err := newTempDir()
	if err != nil {
		t.Fatal(err)
	}
	dead.lock.Close()
	other := filepath.Join(base, dirPrefix+"file")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(other)

	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	sweep(base)
	if exists(dead.path) || !exists(alive.path) || !exists(other) {
		t.Errorf("after the sweep: dead %v, alive %v, file %v", exists(dead.path), exists(alive.path), exists(other))
	}
}

func TestServeByHandSaysWhatItIs(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{envByHand + "=1"}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "serves the routing strategies route-only, plan-only, faulty to gatewayd") {
		t.Errorf("%v: %s", err, out)
	}
}
