package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

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

// processes says how each strategy of a chain is started: a path as it is, a name
// from the plugin folder, or else from this very executable; one that was swapped
// by the path that it was given.
func processes(c config.Config, chain []ref.Ref, swapped map[string]string) ([]pool.StrategySpec, error) {
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
	for _, r := range chain {
		name := unused(used, filepath.Base(r.Name))
		if path := swapped[name]; path != "" {
			r.Name = path
		}
		spec, err := process(r, dir, self)
		if err != nil {
			return nil, err
		}
		spec.StartTimeout, spec.RouteTimeout = c.Plugins.StartTimeout, c.Plugins.DecisionTimeout
		spec.Name, spec.SHA256, spec.MTLS = name, r.SHA256, c.Plugins.MTLS
		file, err := os.Stat(spec.Path)
		if err != nil {
			return nil, fmt.Errorf("strategy %s: %w", name, err)
		}
		out = append(out, pool.StrategySpec{Name: name, Process: spec, Options: router.Options(r.Options), File: file})
	}
	return out, nil
}

func names(chain []pool.StrategySpec) (out []string) {
	for _, s := range chain {
		out = append(out, s.Name)
	}
	return out
}

// sameProcess reports whether two strategies are started alike, from the same
// executable.
func sameProcess(a, b pool.StrategySpec) bool {
	return a.Name == b.Name && a.Process.Path == b.Process.Path && a.Process.Strategy == b.Process.Strategy &&
		a.Process.SHA256 == b.Process.SHA256 && a.Process.MTLS == b.Process.MTLS &&
		slices.Equal(a.Process.Args, b.Process.Args) && maps.Equal(a.Options, b.Options) &&
		os.SameFile(a.File, b.File) && a.File.Size() == b.File.Size() && a.File.ModTime().Equal(b.File.ModTime())
}

// fresh names the strategies of a chain that no process of another one is started like.
func fresh(chain, old []pool.StrategySpec) map[string]bool {
	out := map[string]bool{}
	for _, s := range chain {
		out[s.Name] = !slices.ContainsFunc(old, func(o pool.StrategySpec) bool { return sameProcess(s, o) })
	}
	return out
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
