package rules

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// remote is an instance in another process: its calls have errors and deadlines.
type remote interface {
	RouteContext(context.Context, router.Input, plugin.TraceContext) (router.Decision, error)
	PlanContext(context.Context, router.PlanInput, plugin.TraceContext) (router.Plan, error)
	ObserveContext(context.Context, []router.Event) error
	Close() error
}

// opened is one instance, wherever it runs.
type opened struct {
	info     router.Info
	remote   remote // nil in this process
	instance router.Instance
	trial    *trial
}

// seed is that of all instances.
const seed = 1

// open makes an instance with the options under test.
func (t *trial) open(d router.Definition) (*opened, error) { return t.openWith(d, t.cfg.Options) }

func (t *trial) openWith(d router.Definition, options router.Options) (o *opened, err error) {
	defer recovered(&err)
	if d.New == nil {
		return nil, fmt.Errorf("definition %q has no New function", d.Name)
	}
	given := router.Options{}
	for k, v := range options {
		given[k] = v
	}
	instance, err := d.New(given, seed)
	if err != nil {
		return nil, err
	}
	if instance == nil {
		return nil, fmt.Errorf("%s: its New returned neither an instance nor an error", d.Name)
	}
	o = &opened{info: instance.Info(), instance: instance, trial: t}
	o.remote, _ = instance.(remote)
	return o, nil
}

// fresh opens an instance for the rule at work; nil if that fails.
func (t *trial) fresh(d router.Definition) *opened {
	o, err := t.open(d)
	if err != nil {
		t.found("a further instance cannot be opened: %v", err)
		return nil
	}
	return o
}

func (o *opened) close() {
	if o.remote != nil {
		_ = o.remote.Close() // an instance that cannot be closed ends with its process
	}
}

func (o *opened) route(ctx context.Context, in router.Input) (d router.Decision, err error) {
	defer recovered(&err)
	if o.remote != nil {
		ctx, cancel := context.WithTimeout(ctx, o.trial.cfg.Patience)
		defer cancel()
		return o.remote.RouteContext(ctx, in, plugin.TraceContext{})
	}
	s, ok := o.instance.(router.Strategy)
	if !ok {
		return d, fmt.Errorf("its info says that it routes, but it has no Route method")
	}
	return s.Route(in), nil
}

func (o *opened) plan(ctx context.Context, in router.PlanInput) (p router.Plan, err error) {
	defer recovered(&err)
	if o.remote != nil {
		ctx, cancel := context.WithTimeout(ctx, o.trial.cfg.Patience)
		defer cancel()
		return o.remote.PlanContext(ctx, in, plugin.TraceContext{})
	}
	s, ok := o.instance.(router.Planner)
	if !ok {
		return p, fmt.Errorf("its info says that it plans, but it has no Plan method")
	}
	return s.Plan(in)
}

func (o *opened) observe(ctx context.Context, events []router.Event) (err error) {
	defer recovered(&err)
	if len(events) == 0 {
		return nil
	}
	if o.remote != nil {
		return o.remote.ObserveContext(ctx, events)
	}
	s, ok := o.instance.(router.Observer)
	if !ok {
		return fmt.Errorf("its info says that it observes, but it has no Observe method")
	}
	s.Observe(events)
	return nil
}

var errPanic = errors.New("it panicked")

// recovered makes an error of a panic, with the place in the strategy's code.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v\n%s", errPanic, r, below(string(debug.Stack())))
	}
}

// refused reports whether an error is a strategy's own word, and not the loss of
// its process, its time or its senses.
func (o *opened) refused(err error) bool {
	if o.remote != nil {
		return errors.Is(err, plugin.ErrStrategy)
	}
	return err != nil && !errors.Is(err, errPanic)
}

// below returns where the panic began, as lines of the strategy's code.
func below(stack string) string {
	if _, rest, ok := strings.Cut(stack, "panic("); ok {
		stack = rest
	}
	var places []string
	for _, line := range strings.Split(stack, "\n")[1:] {
		place, ok := strings.CutPrefix(line, "\t")
		switch {
		case !ok || strings.Contains(place, "/runtime/"):
			continue
		case strings.Contains(place, "/strategytest/rules/") || len(places) == 4:
			return strings.Join(places, "\n")
		}
		place, _, _ = strings.Cut(place, " +0x")
		places = append(places, "at "+place)
	}
	return strings.Join(places, "\n")
}
