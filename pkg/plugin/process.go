package plugin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// Process is one running plugin. Its methods may be called concurrently.
type Process struct {
	spec   Spec
	dir    *tempDir
	runner *runner
	client *goplugin.Client
	rpc    wire.StrategyClient
	about  Description
	done   chan struct{}

	mu      sync.Mutex
	closing bool
	broken  error // why it was killed
}

// Description is what a process says it serves.
type Description struct {
	Protocol       int // version of the strategy protocol
	FeatureVersion int // version of the list of features of cost rows
	// Definitions are the strategies. Their New opens an instance in the
	// process, for no pool, within Spec.CallTimeout.
	Definitions []router.Definition
}

// Describe returns what the process serves.
func (p *Process) Describe() Description { return p.about }

// Pid returns the number of the process.
func (p *Process) Pid() int {
	pid, _ := strconv.Atoi(p.runner.ID())
	return pid
}

// Done is closed when the process has ended and all that belonged to it is gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns why the process ended; nil while it runs, or if it was closed.
func (p *Process) Err() error {
	if !p.runner.ended() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return nil
	}
	if p.broken != nil {
		return fmt.Errorf("plugin %s was ended: %w", p.spec.Name, p.broken)
	}
	err := fmt.Errorf("plugin %s ended (%s)", p.spec.Name, p.runner.status)
	if last := p.runner.tail.last(); last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	return err
}

// Close asks the process to end, kills it when it does not within
// Spec.StopTimeout, and returns when it is gone. Calls under way fail with
// ErrDown.
func (p *Process) Close() {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	_ = p.runner.stdin.Close()
	ctx, cancel := context.WithTimeout(context.Background(), p.spec.StopTimeout)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill(nil)
		<-p.done
	}
}

// laneBroke ends the process of a broken lane. A lost connection mostly means
// that the process is ending by itself, and then it knows better why.
func (p *Process) laneBroke(err error) {
	if errors.Is(err, ErrDown) {
		timer := time.NewTimer(p.spec.StopTimeout)
		defer timer.Stop()
		select {
		case <-p.runner.exited:
		case <-timer.C:
		}
	}
	p.kill(err)
}

// kill ends the process, if it still runs, because of reason, which may be nil.
func (p *Process) kill(reason error) {
	if p.runner == nil || p.runner.ended() {
		return
	}
	p.mu.Lock()
	if p.broken == nil {
		p.broken = reason
	}
	p.mu.Unlock()
	_ = p.runner.Kill(context.Background())
}

// release frees what belonged to the process, which has ended.
func (p *Process) release() {
	p.client.Kill()
	p.dir.remove()
	close(p.done)
}

func (p *Process) logEnd() {
	if err := p.Err(); err != nil {
		p.spec.Logger.Error("plugin ended", "pid", p.Pid(), "error", err)
		return
	}
	p.spec.Logger.Info("plugin ended", "pid", p.Pid(), "status", p.runner.status)
}

// strategy returns the name of the definition that the spec means.
func (p *Process) strategy() (string, error) {
	defs, name := p.about.Definitions, p.spec.Strategy
	if name == "" && len(defs) == 1 {
		return defs[0].Name, nil
	}
	if name == "" {
		name = p.spec.Name
	}
	var names []string
	for _, d := range defs {
		if d.Name == name {
			return name, nil
		}
		names = append(names, d.Name)
	}
	return "", tag(ErrUnknownStrategy, fmt.Errorf("plugin %s serves %q, not %q", p.spec.Name, names, name))
}
