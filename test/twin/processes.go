package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	startTimeout = time.Minute      // of one process
	stopTimeout  = 10 * time.Second // after SIGTERM
)

// process is a child process, which ends with its context.
type process struct {
	command *exec.Cmd
	done    chan error
}

// start runs an executable and hands each line that it prints to look, until that
// says that it has seen enough. Standard output and error are one stream.
func start(ctx context.Context, look func(line string) bool, name string, args ...string) (*process, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = stopTimeout
	out, in := io.Pipe()
	c.Stdout, c.Stderr = in, in
	if err := c.Start(); err != nil {
		return nil, err
	}
	p := &process{command: c, done: make(chan error, 1)}
	go func() {
		err := c.Wait()
		in.Close()
		p.done <- err
	}()
	found, text := make(chan bool, 1), new(strings.Builder)
	go func() {
		lines := bufio.NewScanner(out)
		seen := false
		for lines.Scan() {
			if seen {
				continue
			}
			fmt.Fprintln(text, lines.Text())
			if seen = look(lines.Text()); seen {
				found <- true
			}
		}
		if !seen {
			found <- false
		}
		_, _ = io.Copy(io.Discard, out) // a line too long must not block the process
	}()
	timer := time.NewTimer(startTimeout)
	defer timer.Stop()
	select {
	case ok := <-found:
		if !ok {
			return nil, fmt.Errorf("%s ended at its start:\n%s", name, text)
		}
	case <-timer.C:
		p.stop()
		return nil, fmt.Errorf("%s did not start within %v", name, startTimeout)
	}
	return p, nil
}

// stop asks the process to end and waits for it.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.command.Process.Kill()
		<-p.done
	}
}

// stack is one gateway with its workers, each in a process of its own.
type stack struct {
	processes  []*process
	api, admin string // base URLs
	folder     string
}

// startStack starts workers and gateway and waits until all is ready.
func startStack(ctx context.Context, s scene, bin, chain string) (_ *stack, err error) {
	k := &stack{}
	defer func() {
		if err != nil {
			k.stop()
		}
	}()
	if k.folder, err = os.MkdirTemp("", "twin-"); err != nil {
		return nil, err
	}
	var urls []string
	for range s.workers {
		u, err := k.startWorker(ctx, s, bin)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	config := filepath.Join(k.folder, "gatewayd.json")
	text, err := json.Marshal(settings(s, chain, urls))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return nil, err
	}
	if err := k.startGateway(ctx, bin, config); err != nil {
		return nil, err
	}
	return k, k.ready(ctx, s.workers, len(names(chain)))
}

func (k *stack) startWorker(ctx context.Context, s scene, bin string) (base string, err error) {
	look := func(line string) bool {
		_, base, _ = strings.Cut(line, " on http://")
		return base != ""
	}
	p, err := start(ctx, look, filepath.Join(bin, "benchlab"), "worker", "--listen", "127.0.0.1:0", "--model", model,
		"--profile", s.profile.Name, "--speed", fmt.Sprint(1/s.dilation), "--forget-answers")
	if err != nil {
		return "", err
	}
	k.processes = append(k.processes, p)
	return "http://" + base, nil
}

func (k *stack) startGateway(ctx context.Context, bin, config string) error {
	look := func(line string) bool {
		var said struct{ API, Admin string }
		if json.Unmarshal([]byte(line), &said) != nil || said.API == "" {
			return false
		}
		k.api, k.admin = said.API, "http://"+said.Admin
		return true
	}
	p, err := start(ctx, look, filepath.Join(bin, "gatewayd"), "serve", "--config", config)
	if err == nil {
		k.processes = append(k.processes, p)
	}
	return err
}

// tokenFile holds the token of the gateway's admin listener, beside its configuration.
const tokenFile = "admin.token"

// settings is the gateway's configuration; JSON is YAML too.
func settings(s scene, chain string, urls []string) map[string]any {
	zones, workers := map[string]any{}, []any{}
	for i, m := range s.fleet() {
		zones[m.Zone] = map[string]any{"grams_per_kwh": m.Carbon.GramsPerKWh.Value}
		e := m.Energy
		workers = append(workers, map[string]any{"url": urls[i], "id": m.ID, "zone": m.Zone, "energy": map[string]any{
			"prefill_joules": e.PrefillJoules, "decode_joules": e.DecodeJoules, "shared_joules": e.SharedJoules, "pue": e.PUE,
		}})
	}
	return map[string]any{
		"listen": "127.0.0.1:0", "admin_listen": "127.0.0.1:0", "admin_token_file": tokenFile, "log": map[string]any{"format": "json"},
		"seed": s.seed, "workers": workers, "zones": zones, "strategies": names(chain),
		"probe": map[string]any{"successes": 1, "interval": "1s", "metrics_interval": "1s"},
		// A simulated gateway waits for answers as long as they take.
		"timeouts": map[string]any{"response_head": "24h", "first_token": "24h", "token_gap": "24h", "total": "24h"},
	}
}

// ready waits until all workers are up and known, and all strategies have planned.
func (k *stack) ready(ctx context.Context, workers, planners int) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var list []struct {
			Up       bool
			KVTokens int `json:"kv_tokens"`
		}
		var plans []struct{ Workers []string }
		up := 0
		if k.read(ctx, "/workers", &list) == nil && k.read(ctx, "/plans", &plans) == nil {
			for _, w := range list {
				if w.Up && w.KVTokens > 0 {
					up++
				}
			}
			if up == workers && len(plans) == planners {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d workers are up, %d of %d strategies have planned: %w", up, workers, len(plans), planners, ctx.Err())
		}
	}
}

// read reads one of the gateway's admin pages.
func (k *stack) read(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.admin+path, nil)
	if err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(k.folder, tokenFile))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// target is the API's base URL.
func (k *stack) target() (*url.URL, error) { return url.Parse(k.api) }

// stop ends all processes, the gateway first.
func (k *stack) stop() {
	for i := len(k.processes) - 1; i >= 0; i-- {
		k.processes[i].stop()
	}
	os.RemoveAll(k.folder)
}
