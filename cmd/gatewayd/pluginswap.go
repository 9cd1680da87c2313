package main

import (
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"gatewayd/internal/admin"
)

func pluginSwap(p process) *cli.Command {
	return &cli.Command{
		Name:      "swap",
		Usage:     "replace the process of a strategy of a running gateway",
		UsageText: "gatewayd plugin swap NAME [--binary PATH] [--admin ADDR] [--token-file FILE]\n\nExample:\n   gatewayd plugin swap my-strategy --binary ./build/my-strategy",
		Description: "Starts the new process beside the old one, gives it the fleet, the rates of keys and the plan in\n" +
			"force, asks it about live requests for a while (plugins.trial_decisions, plugins.trial_time) and then\n" +
			"lets it decide; no request fails. One that does not serve, plan or answer is ended again: the old\n" +
			"one goes on, the reason is printed and the exit code is 1. Without --binary the executable is\n" +
			"started anew, for one that was replaced in its place. --binary counts until the gateway ends.",
		Flags: append([]cli.Flag{&cli.StringFlag{Name: "binary", Usage: "`PATH` of the new executable, on the gateway's machine"}}, adminFlags()...), OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			names, err := operands(c)
			if err != nil {
				return err
			}
			if len(names) != 1 {
				return usageError{fmt.Errorf("one strategy is needed, got %d\nhint: gatewayd plugin swap NAME [--binary PATH]", len(names))}
			}
			body := map[string]string{}
			if binary := c.String("binary"); binary != "" {
				if body["path"], err = filepath.Abs(binary); err != nil {
					return err
				}
			}
			var change admin.Change
			if err := ask(c, http.MethodPost, "/strategies/"+names[0]+"/swap", body, &change); err != nil {
				return err
			}
			return changed(p, change)
		},
	}
}
