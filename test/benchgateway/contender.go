package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	startLimit = 20 * time.Second
	stopLimit  = 10 * time.Second
)

// contender is what requests can be sent to: the worker itself, or a proxy before
// it.
type contender struct {
	name    string
	address string
	admin   string // address of its metrics, "" if it has none
	command *exec.Cmd
	ended   chan struct{}
	said    tail
}

// direct is the worker itself.
func (s scene) direct() (*contender, error) {
	return &contender{name: "direct", address: s.worker}, nil
}

// lineup starts all contenders. They must be stopped, also after an error.
func (s scene) lineup() ([]*contender, error) {
	var all []*contender
	for _, begin := range []func() (*contender, error){s.direct, s.nginx, s.haproxy, s.gatewayd} {
		c, err := begin()
		if c != nil {
			all = append(all, c)
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// start runs the program on the contenders' core.
func (c *contender) start(s scene, env []string, program string, args ...string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s: %w\nhint: apt-get install -y nginx haproxy wrk; make build", c.name, err)
	}
	if s.core != "" {
		program, args = "taskset", append([]string{"-c", s.core, program}, args...)
	}
	command := exec.Command(program, args...)
	command.Env, command.Stdout, command.Stderr = env, &c.said, &c.said
	if err := command.Start(); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.command, c.ended = command, make(chan struct{})
	go func() {
		defer close(c.ended)
		_ = command.Wait() // an early end shows in ready and usage
	}()
	return nil
}

// ready waits until the contender answers a request as it should.
func (c *contender) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := c.once(small(c.address, 0))
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.ended: // never for the worker itself, which has no process
			return fmt.Errorf("%s ended at its start: %s", c.name, c.said.String())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", c.name, errors.Join(err, ctx.Err()), c.said.String())
		}
	}
}

// once sends one request on a connection of its own.
func (c *contender) once(request []byte) error {
	conn, err := dial(c.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.exchange(request)
	return err
}

// cpu returns the CPU time that the contender has used; none for the worker itself.
func (c *contender) cpu() (time.Duration, error) { return used(c, cpuOf) }

// memory returns the bytes that the contender has in memory, likewise.
func (c *contender) memory() (int64, error) { return used(c, memoryOf) }

func used[T any](c *contender, of func(pid int) (T, error)) (n T, err error) {
	if c.command == nil {
		return n, nil
	}
	if n, err = of(c.command.Process.Pid); err != nil {
		err = fmt.Errorf("%s: %w\n%s", c.name, err, c.said.String())
	}
	return n, err
}

// stop ends the contender's process and waits for it.
func (c *contender) stop() {
	if c.command == nil {
		return
	}
	_ = c.command.Process.Signal(syscall.SIGTERM) // it may have ended
	timer := time.NewTimer(stopLimit)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
		_ = c.command.Process.Kill()
		<-c.ended
	}
}

// freeAddress returns an address of this machine that nobody listens on, "" if
// there is none.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return ""
	}
	defer l.Close()
	return l.Addr().String()
}

// tail keeps the end of what a process says.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// tailBytes is how much of it is kept at least.
const tailBytes = 4 << 10

// Write keeps b.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(b)
	if over := t.text.Len() - 2*tailBytes; over > 0 {
		t.text.Next(over)
	}
	return len(b), nil
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
