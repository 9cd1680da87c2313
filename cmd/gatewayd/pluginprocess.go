package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/urfave/cli/v2"

	"gatewayd/internal/daemon"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/strategies"
)

// patient are the bounds for an author's machine, which may be busy. They are
// for hangs; a gateway's are shorter.
const (
	patientStart = time.Minute
	patientStop  = 10 * time.Second
)

// dirFlag names the folder that gatewayd serve finds executables in.
func dirFlag() cli.Flag {
	return &cli.StringFlag{Name: "dir", Usage: "`DIR` of strategy executables; the default is plugins/ beside this executable"}
}

func pluginDir(c *cli.Context) (string, error) {
	if dir := c.String("dir"); dir != "" {
		return dir, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this executable: %w", err)
	}
	return filepath.Join(filepath.Dir(self), "plugins"), nil
}

// specOf says how a strategy is started, as gatewayd serve does: a path as it
// is, a name from the folder or else from this executable.
func specOf(r ref.Ref, dir string, log hclog.Logger) (plugin.Spec, error) {
	spec := plugin.Spec{Name: filepath.Base(r.Name), StartTimeout: patientStart, StopTimeout: patientStop, CallTimeout: patientStop, Logger: log}
	path, err := plugin.Resolve(r.Name, []string{dir})
	switch {
	case err == nil:
		spec.Path = path
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return spec, fmt.Errorf("%s is a folder; give the executable in it", r.Name)
		}
		return spec, nil
	case r.IsPath() || !errors.Is(err, fs.ErrNotExist):
		return spec, err
	}
	if _, err := strategies.Find(r.Name); err != nil {
		return spec, fmt.Errorf("%w\nhint: give a path, as ./%s, for an executable of yours", err, r.Name)
	}
	if spec.Path, err = os.Executable(); err != nil {
		return spec, fmt.Errorf("find this executable: %w", err)
	}
	spec.Args = []string{daemon.BundledCommand, r.Name}
	return spec, nil
}

// started is a running process and how long its start took.
type started struct {
	*plugin.Process
	took time.Duration
}

func launch(ctx context.Context, spec plugin.Spec) (started, error) {
	began := time.Now()
	p, err := plugin.Launch(ctx, spec)
	return started{p, time.Since(began).Round(time.Millisecond)}, err
}

// pluginLogger shows an author what a process prints: warnings, errors and
// panics, or everything.
func pluginLogger(p process, all bool) hclog.Logger {
	level := hclog.Warn
	if all {
		level = hclog.Info
	}
	return hclog.New(&hclog.LoggerOptions{Name: "plugin", Level: level, Output: p.stderr})
}
