package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

// serveStrategy is the main of a strategy's process: one that is shipped, or one
// that is bad in its own way.
func serveStrategy(name string) {
	if d, err := strategies.Find(name); err == nil {
		plugin.Serve(d)
		return
	}
	plugin.Serve(router.Definition{Name: name, Version: "1", New: func(router.Options, uint64) (router.Instance, error) {
		if name == "refuses" {
			return nil, errors.New("it has no licence")
		}
		return bad{name}, nil
	}})
}

// bad is a strategy that answers what cannot be used.
type bad struct{ name string }

func (b bad) Info() router.Info {
	return router.Info{Name: b.name, Version: "1", Routes: b.name != "misplans", Plans: b.name == "misplans", Interval: time.Millisecond}
}

func (b bad) Route(router.Input) router.Decision {
	os.Exit(3) // "dies": when it is asked first
	return router.Decision{}
}

func (b bad) Plan(router.PlanInput) (router.Plan, error) {
	return router.Plan{}, errors.New("no idea")
}

// executable returns the path of an executable that serves a strategy.
func executable(t *testing.T, strategy string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strategy)
	script := fmt.Sprintf("#!/bin/sh\nexec %q %s %s\n", os.Args[0], BundledCommand, strategy)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
