package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"gatewayd/internal/daemon"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/strategies"
)

// strategyCommand serves a bundled strategy to the gateway that started it.
func strategyCommand() *cli.Command {
	return &cli.Command{
		Name: daemon.BundledCommand, Hidden: true, ArgsUsage: "NAME", OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usageError{fmt.Errorf("one strategy name is needed, got %d", c.NArg())}
			}
			definition, err := strategies.Find(c.Args().First())
			if err != nil {
				return usageError{err}
			}
			plugin.Serve(definition)
			return nil
		},
	}
}
