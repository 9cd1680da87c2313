package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gatewayd/internal/config"
	"gatewayd/internal/pool"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

// BundledCommand is the hidden command by which the executable serves one of
// its bundled strategies.
const BundledCommand = "strategy"

// processes says how each strategy of the chain is started: a path as it is, a
// name from the plugin folder, or else from this very executable.
func processes(c config.Config) ([]pool.StrategySpec, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this executable: %w", err)
	}
	dir := c.Plugins.Dir
	if dir == "" {
		dir = filepath.Join(filepath.Dir(self), "plugins")
	}
	used := map[string]bool{router.BuiltIn: true}
	var out []pool.StrategySpec
	for _, r := range c.Strategies {
		spec, err := process(r, dir, self)
		if err != nil {
			return nil, err
		}
		spec.StartTimeout, spec.RouteTimeout = c.Plugins.StartTimeout, c.Plugins.DecisionTimeout
		name := unused(used, filepath.Base(r.Name))
		spec.Name = name
		out = append(out, pool.StrategySpec{Name: name, Process: spec, Options: router.Options(r.Options)})
	}
	return out, nil
}

// unused returns the name, or with a number behind it the first that is free.
func unused(used map[string]bool, name string) string {
	free := name
	for n := 2; used[free]; n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	used[free] = true
	return free
}

func process(r ref.Ref, dir, self string) (plugin.Spec, error) {
	path, err := plugin.Resolve(r.Name, []string{dir})
	if err == nil {
		spec := plugin.Spec{Path: path}
		if !r.IsPath() {
			spec.Strategy = r.Name
		}
		return spec, nil
	}
	if r.IsPath() || !errors.Is(err, fs.ErrNotExist) {
		return plugin.Spec{}, err
	}
	if _, unknown := strategies.Find(r.Name); unknown != nil {
		return plugin.Spec{}, fmt.Errorf("%w\nhint: or put an executable called %s into %s", unknown, r.Name, dir)
	}
	return plugin.Spec{Path: self, Args: []string{BundledCommand, r.Name}, Strategy: r.Name}, nil
}
