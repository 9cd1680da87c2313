package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/internal/config"
	"gatewayd/internal/daemon"
)

func checkCommand(p process) *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "check a configuration file, and with --probe what it names",
		UsageText:   "gatewayd check --config FILE [--probe]\n\nExample:\n   gatewayd check --config gatewayd.yaml --probe",
		Description: "Reads the file as serve would. With --probe it also starts every strategy with its options, asks\nevery worker for its health and models, and the shared state for its time.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "YAML `FILE`, required"},
			&cli.BoolFlag{Name: "probe", Usage: "also start the strategies and contact workers and Redis"},
			&cli.DurationFlag{Name: "timeout", Value: 10 * time.Second, Usage: "`TIME` for all probes together"},
		},
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.Duration("timeout") <= 0 {
				return usageError{fmt.Errorf("--timeout is %v\nhint: give a time above 0, as 10s", c.Duration("timeout"))}
			}
			if c.String("config") == "" {
				return usageError{errors.New("no file is given\nhint: gatewayd check --config FILE")}
			}
			cfg, err := config.LoadFile(c.String("config"))
			if err == nil {
				err = cfg.Validate()
			}
			if err == nil {
				err = daemon.CheckStrategies(cfg)
			}
			if err != nil {
				return usageError{err}
			}
			if !c.Bool("probe") {
				_, err := fmt.Fprintf(p.stdout, "%s: ok, %s, %s\n", c.String("config"), count(len(cfg.Workers), "worker", "workers"), count(len(cfg.Strategies), "strategy", "strategies"))
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context, c.Duration("timeout"))
			defer cancel()
			return probe(ctx, p, cfg)
		},
	}
}

// probe prints one line per thing that the configuration names.
func probe(ctx context.Context, p process, cfg config.Config) error {
	results := daemon.Probe(ctx, cfg)
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	failed := 0
	for _, r := range results {
		state := "ok"
		if r.Err != nil {
			state = "FAILED"
			failed++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Kind, r.Name, state, r.Detail())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return errors.New(count(failed, "probe", "probes") + " failed")
	}
	return nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
