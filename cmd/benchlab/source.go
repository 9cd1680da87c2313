package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

// patience bounds one call to a plugin. Virtual time stands still meanwhile, so
// how long a call really takes changes no result; a plugin that hangs ends the
// comparison.
const patience = time.Minute

// host finds strategies in the catalog and in plugins, which it starts when they
// are first asked for.
type host struct {
	log     hclog.Logger
	fail    context.CancelCauseFunc // ends the comparison
	plugins map[string]remote       // by path
}

func newHost(stderr io.Writer, fail context.CancelCauseFunc) *host {
	log := hclog.New(&hclog.LoggerOptions{Name: "benchlab", Level: hclog.Warn, Output: stderr})
	return &host{log: log, fail: fail, plugins: map[string]remote{}}
}

// close ends all plugins.
func (h *host) close() {
	for _, r := range h.plugins {
		r.process.Close()
	}
}

func (h *host) find(ctx context.Context, r ref.Ref) (source, error) {
	if !r.IsPath() {
		d, err := strategies.Find(r.Name)
		return local{d}, err
	}
	path, err := plugin.Resolve(r.Name, nil)
	if err != nil {
		return nil, err
	}
	if p, ok := h.plugins[path]; ok {
		return p, nil
	}
	spec := plugin.Spec{Name: filepath.Base(path), Path: path, Logger: h.log, RouteTimeout: patience, CallTimeout: patience}
	process, err := plugin.Launch(ctx, spec)
	if err != nil {
		return nil, err
	}
	p := remote{process: process, fail: h.fail}
	h.plugins[path] = p
	if p.strategy, err = served(process.Describe(), spec.Name); err != nil {
		return nil, err
	}
	h.plugins[path] = p
	return p, nil
}

// served is the strategy of a plugin that is meant: its only one, or the one
// with the executable's name.
func served(d plugin.Description, file string) (string, error) {
	var names []string
	for _, s := range d.Definitions {
		if len(d.Definitions) == 1 || s.Name == file {
			return s.Name, nil
		}
		names = append(names, s.Name)
	}
	return "", fmt.Errorf("the plugin serves %q; rename the file to the one that is meant", names)
}

// local is a strategy of the catalog.
type local struct{ router.Definition }

func (s local) name() string { return s.Name }

func (s local) open(_ context.Context, o router.Options, seed uint64) (router.Instance, error) {
	return s.New(o, seed)
}

// remote is the strategy that a plugin serves.
type remote struct {
	process  *plugin.Process
	strategy string
	fail     context.CancelCauseFunc
}

func (s remote) name() string { return s.strategy }

func (s remote) open(ctx context.Context, o router.Options, seed uint64) (router.Instance, error) {
	i, err := s.process.Open(ctx, o, seed, "sim")
	if err != nil {
		return nil, err
	}
	return &faithful{Instance: i, ctx: ctx, fail: s.fail}, nil
}
