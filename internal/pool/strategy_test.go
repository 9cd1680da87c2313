package pool

import (
	"fmt"
	"os"
	"time"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
)

// strategyArgument begins the argument that makes the test binary a strategy.
const strategyArgument = "test-strategy:"

// serveStrategy is the main of a strategy's process.
func serveStrategy(name string) {
	switch name {
	case "dies": // at its start, always
		fmt.Fprintln(os.Stderr, "the licence has run out")
		os.Exit(3)
	case "prints":
		fmt.Println("hello from something else")
		select {}
	}
	plugin.Serve(router.Definition{Name: name, Version: "1", New: func(o router.Options, _ uint64) (router.Instance, error) {
		for option := range o {
			if option != "reason" && option != "hang" {
				return nil, fmt.Errorf("unknown option %q", option)
			}
		}
		if file := o["hang"]; file != "" { // hangs while the file is there
			for _, err := os.Stat(file); err == nil; _, err = os.Stat(file) {
				<-time.After(10 * time.Millisecond)
			}
		}
		return answers{name, o["reason"]}, nil
	}})
}

// answers is a strategy that takes the last worker.
type answers struct{ name, reason string }

func (a answers) Info() router.Info { return router.Info{Name: a.name, Version: "1", Routes: true} }

func (a answers) Route(in router.Input) router.Decision {
	d := to(len(in.Workers) - 1)
	d.Reason = a.reason
	return d
}

// spec is a strategy served by this test binary.
func spec(name string, options router.Options) StrategySpec {
	return StrategySpec{Name: name, Options: options, Process: plugin.Spec{
		Name: name, Path: os.Args[0], Args: []string{strategyArgument + name}, StartTimeout: 20 * time.Second,
		Restart: plugin.Restart{First: 10 * time.Millisecond, Longest: 50 * time.Millisecond},
	}}
}
