package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// output is a buffer that one goroutine writes and another reads.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// TestDemo runs the demo on a busy port, tries the lines it prints, and ends
// it as Ctrl-C does: with a signal to its whole process group.
func TestDemo(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	temp := t.TempDir()
	cmd := exec.Command(os.Args[0], "demo", "--listen", busy.Addr().String(), "--admin-listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "GATEWAYD_TEST_RUN=1", "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stdout, stderr output
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	until(t, "the demo's introduction", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("the demo ended with %v:\n%s%s", err, stdout.String(), stderr.String())
		default:
		}
		return strings.Contains(stdout.String(), "Ctrl-C stops everything.")
	})
	text := stdout.String()
	if !strings.Contains(text, "is busy; taking a free one") {
		t.Errorf("the demo does not say that the port is busy:\n%s", text)
	}
	for _, what := range []string{"worker-1", "worker-4", "strategy cacheroute", "strategy sticky", "strategy joule", "state in memory"} {
		if !strings.Contains(text, what) {
			t.Errorf("the demo does not tell of %s:\n%s", what, text)
		}
	}
	urls := regexp.MustCompile(`curl (?:-N )?(http://\S+)(?:.*-d '([^']*)')?`).FindAllStringSubmatch(text, -1)
	if len(urls) != 3 {
		t.Fatalf("the demo prints %d lines to try, want 3:\n%s", len(urls), text)
	}
	for _, u := range urls {
		method := http.MethodGet
		if u[2] != "" {
			method = http.MethodPost
		}
		req, err := http.NewRequestWithContext(context.Background(), method, u[1], strings.NewReader(u[2]))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		body.ReadFrom(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || u[2] != "" && !strings.HasSuffix(body.String(), "data: [DONE]\n\n") {
			t.Errorf("%s: %s\n%s", u[1], resp.Status, body.String())
		}
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the demo ended with %v", err)
		}
	case <-patience(t).Done():
		t.Fatal("the demo did not end")
	}
	if !strings.HasSuffix(stdout.String(), "stopped\n") || stderr.String() != "" {
		t.Errorf("the demo's end:\n%s%s", stdout.String(), stderr.String())
	}
	if err := syscall.Kill(-cmd.Process.Pid, 0); err != syscall.ESRCH {
		t.Errorf("a process of the demo is left: %v", err)
	}
	pids := regexp.MustCompile(`pid (\d+)`).FindAllStringSubmatch(text, -1)
	if len(pids) != 3 {
		t.Errorf("the demo names %d processes of strategies, want 3:\n%s", len(pids), text)
	}
	for _, m := range pids {
		if pid, _ := strconv.Atoi(m[1]); syscall.Kill(pid, 0) != syscall.ESRCH {
			t.Errorf("strategy process %s is left", m[1])
		}
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("the demo left %v", left)
	}
}

// TestKilledGatewayLeavesNoPlugin: plugins end when their gateway is killed.
func TestKilledGatewayLeavesNoPlugin(t *testing.T) {
	temp := t.TempDir()
	g := startGateway(t, map[string]string{"TMPDIR": temp}, "--worker", emulatedWorker(t), "--plugin", "cacheroute", "--plugin", "sticky")
	g.cmd.Process.Kill()
	for _, strategy := range []string{"cacheroute", "sticky"} {
		pid := g.pids(strategy)[0]
		until(t, strategy+"'s process to end", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	}
	until(t, "the plugins' folders to go", func() bool {
		left, err := filepath.Glob(filepath.Join(temp, "gatewayd-plugin*"))
		return err == nil && len(left) == 0
	})
}
