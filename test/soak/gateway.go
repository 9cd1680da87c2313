package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	startLimit = time.Minute
	stopLimit  = 15 * time.Second
)

// lab is where lines find the gateway's program and a folder of their own.
type lab struct {
	program string
	folder  string
}

func newLab(bin string) (*lab, error) {
	program, err := filepath.Abs(filepath.Join(bin, "gatewayd"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("%w\nhint: make build", err)
	}
	folder, err := os.MkdirTemp("", "soak-")
	return &lab{program, folder}, err
}

func (l *lab) close() { os.RemoveAll(l.folder) }

// gateway is a gateway in a process of its own.
type gateway struct {
	api, admin string // base URLs
	command    *exec.Cmd
	ended      chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
}

// start starts a gateway with all that it can do on the way of a request: traces,
// a recording, strategies in processes of their own, and one on the side. The more
// settings lie over these.
func (l *lab) start(ctx context.Context, more map[string]any, workers ...*worker) (*gateway, error) {
	folder, err := os.MkdirTemp(l.folder, "gateway-")
	if err != nil {
		return nil, err
	}
	var list []any
	for _, w := range workers {
		list = append(list, map[string]any{"url": w.url})
	}
	settings := map[string]any{
		"listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0", "admin_token_file": "admin.token",
		"workers": list, "shadow": [][]string{{"sticky"}}, "record": map[string]any{"file": "traffic"},
		"probe": map[string]any{"successes": 1}, "log": map[string]any{"format": "json"},
	}
	maps.Copy(settings, more)
	text, err := json.Marshal(settings) // YAML too
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, "gatewayd.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	g := &gateway{command: exec.Command(l.program, "serve", "--config", file), ended: make(chan struct{})}
	g.command.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+workers[0].url+tracesPath, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf")
	out, err := g.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := g.command.Start(); err != nil {
		return nil, err
	}
	serving := make(chan struct{})
	go g.read(out, serving)
	select {
	case <-serving:
	case <-time.After(startLimit):
	case <-ctx.Done():
	}
	if err := g.ready(ctx, len(workers)); err != nil {
		g.stop()
		return nil, fmt.Errorf("the gateway is not ready: %w\n%s", err, g.logged())
	}
	return g, nil
}

// read keeps the log, finds the addresses in it, and waits for the end.
func (g *gateway) read(out io.Reader, serving chan struct{}) {
	defer close(g.ended)
	said := sync.OnceFunc(func() { close(serving) })
	defer said()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry struct{ API, Admin string }
		g.mu.Lock()
		if g.log.Len() < 1<<16 {
			g.log.Write(append(lines.Bytes(), '\n'))
		}
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.API != "" {
			g.api, g.admin = entry.API, "http://"+entry.Admin
			said()
		}
		g.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, out) // a line too long must not block the gateway
	_ = g.command.Wait()            // an early end shows in requests
}

func (g *gateway) logged() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.log.String()
}

// ready waits until all workers are up.
func (g *gateway) ready(ctx context.Context, workers int) error {
	return until(ctx, startLimit, func() (bool, error) {
		select {
		case <-g.ended:
			return false, errors.New("it ended at its start")
		default:
		}
		up, err := g.metric("gatewayd_worker_up", "")
		return err == nil && int(up) == workers, nil
	})
}

// stop ends the gateway and waits for it.
func (g *gateway) stop() {
	_ = g.command.Process.Signal(syscall.SIGTERM) // it may have ended
	timer := time.NewTimer(stopLimit)
	defer timer.Stop()
	select {
	case <-g.ended:
	case <-timer.C:
		_ = g.command.Process.Kill()
		<-g.ended
	}
}
