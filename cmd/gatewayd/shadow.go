package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"gatewayd/internal/admin"
)

func shadowCommand(p process) *cli.Command {
	return &cli.Command{
		Name:         "shadow",
		Usage:        "look at the chains that a running gateway asks on the side",
		UsageText:    "gatewayd shadow COMMAND [options]\n\nExample:\n   gatewayd shadow report",
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usageError{fmt.Errorf("there is no command shadow %q\nhint: gatewayd shadow --help lists the commands", c.Args().First())}
			}
			return cli.ShowSubcommandHelp(c)
		},
		Subcommands: []*cli.Command{shadowReport(p)},
	}
}

func shadowReport(p process) *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "compare the shadow chains with the live one",
		UsageText: "gatewayd shadow report [--json] [--admin ADDR] [--token-file FILE]\n\nExample:\n   gatewayd shadow report --admin 127.0.0.1:9090",
		Description: "One line for each chain of the setting shadow, since its configuration is in force. AGREES is the\n" +
			"share of requests for which it chose the live worker. IMBALANCE is the most over the mean of the\n" +
			"requests per worker lately. COMPUTED is the share of prompt tokens that workers have to compute, as far\n" +
			"as what was sent to each of them before tells; (live) is the same by the choices that were made.",
		Flags: append([]cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON"}}, adminFlags()...), OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			var all []admin.ShadowView
			if err := ask(c, http.MethodGet, "/shadow", nil, &all); err != nil {
				return err
			}
			if c.Bool("json") {
				e := json.NewEncoder(p.stdout)
				e.SetIndent("", "  ")
				return e.Encode(all)
			}
			return shadowTable(p, all)
		},
	}
}

func shadowTable(p process, all []admin.ShadowView) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(p.stdout, "the gateway has no shadow chains; see the setting shadow in docs/config.md")
		return err
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CHAIN\tDECISIONS\tDROPPED\tMISSED\tAGREES\tIMBALANCE\t(LIVE)\tCOMPUTED\t(LIVE)")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%.2f\t%.2f\t%s\t%s\n", strings.Join(s.Chain, ","), s.Decisions, s.Dropped, s.Missed,
			share(float64(s.Agreed), float64(s.Decisions)), s.Imbalance, s.LiveImbalance,
			share(float64(s.Computed), float64(s.PromptTokens)), share(float64(s.LiveComputed), float64(s.PromptTokens)))
	}
	return w.Flush()
}

// share is a part of a whole in percent; "-" of nothing.
func share(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*part/whole)
}
