package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is a running redis-server. Its methods are for one goroutine, Do for any.
type Server struct {
	network, address string
	dir              string
	args             []string
	process          *os.Process
	ended            chan struct{}
}

// run starts the server and has it stopped at the end of the test.
func (s *Server) run(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		if s.process != nil {
			s.Stop(t)
		}
	})
	s.Restart(t)
}

// Restart starts the stopped server again, empty, at the same address, and
// returns when it answers.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("redistest: these tests need a real redis-server in PATH; install Redis 6 or newer "+
			"(apt-get install redis-server, brew install redis): %v", err)
	}
	command := exec.Command(binary, s.args...)
	command.SysProcAttr = attributes()
	if err := command.Start(); err != nil {
		t.Fatalf("redistest: start redis-server: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait() // it is killed: its exit code says nothing
	}()
	s.process, s.ended = command.Process, ended
	s.await(t, "PING")
}

// await polls until the server answers a command well.
func (s *Server) await(t testing.TB, words ...string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		_, err := s.Do(words...)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-s.ended:
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			t.Fatalf("redistest: redis-server ended before it answered; its log:\n%s", log)
		case <-limit.C:
			t.Fatalf("redistest: redis-server did not answer within 30 s: %v", err)
		}
	}
}

// Do sends one command on a connection of its own and returns the first line of
// the answer, without its type. Arguments are words without blanks.
func (s *Server) Do(words ...string) (string, error) {
	c, err := net.DialTimeout(s.network, s.address, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(c, "%s\r\n", strings.Join(words, " ")); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "-") {
		return "", fmt.Errorf("redis-server: %s", line[1:])
	}
	return line[1:], nil
}

// Stop kills the server; nothing of its content is left.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGKILL)
	<-s.ended
}

// Freeze stops the server's process: connections stay open and silent.
func (s *Server) Freeze(t testing.TB) { t.Helper(); s.signal(t, syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw(t testing.TB) { t.Helper(); s.signal(t, syscall.SIGCONT) }

func (s *Server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	if err := s.process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("redistest: signal %v to redis-server: %v", sig, err)
	}
}
