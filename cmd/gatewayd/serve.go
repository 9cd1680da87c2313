package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/urfave/cli/v2"

	"gatewayd/internal/config"
	"gatewayd/internal/daemon"
	"gatewayd/internal/gateway"
	"gatewayd/internal/heap"
	"gatewayd/pkg/plugin/ref"
)

func serveCommand(p process) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "run the gateway",
		UsageText: "gatewayd serve --config FILE\n" +
			"gatewayd serve --worker URL [--worker URL]... [--plugin NAME|PATH[:key=value...]]...\n\n" +
			"Example:\n   gatewayd serve --worker http://127.0.0.1:8000 --worker http://127.0.0.1:8001 --plugin cacheroute --plugin sticky --plugin joule:mode=carbon",
		Description: "Serves " + gateway.Paths() + ".\n\n" +
			"Flags win over the file. Strategies are asked in the order given; two choices by least load is built in\n" +
			"behind the last. SIGINT and SIGTERM let running requests end (timeouts.shutdown_grace), a second one does not.\n" +
			"A change of the file, and SIGHUP, put the new configuration in force without a failed request.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "YAML `FILE`; docs/config.md lists the settings"},
			&cli.StringSliceFlag{Name: "worker", Usage: "base `URL` of a worker; may be repeated"},
			&cli.StringSliceFlag{Name: "plugin", Usage: "strategy as `NAME|PATH[:key=value...]`; may be repeated, the order counts"},
			&cli.StringFlag{Name: "redis", Usage: "`URL` of the state shared with other gateways; without it state is in memory"},
			&cli.StringFlag{Name: "listen", Usage: "`ADDR` of the API, host:port"},
			&cli.StringFlag{Name: "admin-listen", Usage: "`ADDR` of metrics and administration, host:port"},
			&cli.StringFlag{Name: "record", Usage: "`FILE` to write traffic down to, for benchlab, without any text of a prompt"},
			&cli.StringFlag{Name: "log-level", Usage: "least `LEVEL` logged: trace, debug, info, warn or error"},
			&cli.StringFlag{Name: "log-format", Usage: "`FORM` of log lines: text or json"},
		},
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			file := c.String("config")
			text, err := readAll(file) // before settings does, so that a change in between is seen
			if err != nil {
				return usageError{err}
			}
			cfg, err := settings(c)
			if err != nil {
				return usageError{err}
			}
			return serve(c.Context, p, daemon.Options{
				Config: cfg, Load: func() (config.Config, error) { return settings(c) }, File: file, Text: text,
			})
		},
	}
}

// settings reads the file, if there is one, and lays the flags over it.
func settings(c *cli.Context) (config.Config, error) {
	cfg := config.Default()
	if file := c.String("config"); file != "" {
		var err error
		if cfg, err = config.LoadFile(file); err != nil {
			return cfg, err
		}
	}
	if workers := c.StringSlice("worker"); len(workers) > 0 {
		cfg.Workers = nil
		for _, w := range workers {
			cfg.Workers = append(cfg.Workers, config.Worker{URL: w})
		}
	}
	if plugins := c.StringSlice("plugin"); len(plugins) > 0 {
		cfg.Strategies = nil
		for _, text := range plugins {
			r, err := ref.Parse(text)
			if err != nil {
				return cfg, fmt.Errorf("--plugin: %w", err)
			}
			cfg.Strategies = append(cfg.Strategies, r)
		}
	}
	for flag, setting := range map[string]*string{
		"listen": &cfg.Listen, "admin-listen": &cfg.AdminListen, "record": &cfg.Record.File,
		"log-level": &cfg.Log.Level, "log-format": &cfg.Log.Format,
	} {
		if c.IsSet(flag) {
			*setting = c.String(flag)
		}
	}
	if c.IsSet("redis") {
		cfg.State.Redis = config.NewSecret(c.String("redis"))
	}
	return cfg, cfg.Validate()
}

func newLogger(c config.Log, to io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "gatewayd", Level: hclog.LevelFromString(c.Level), Output: to, JSONFormat: c.Format == "json",
	})
}

// readAll reads the file, if one is named.
func readAll(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return text, nil
}

func serve(ctx context.Context, p process, o daemon.Options) error {
	defer heap.Raise(p.getenv)()
	o.Logger = newLogger(o.Config.Log, p.stderr)
	d, err := start(ctx, p, o)
	if err != nil {
		return err
	}
	scheme := "http://"
	if o.Config.TLS.Certificate != nil {
		scheme = "https://"
	}
	o.Logger.Info("serving", "api", scheme+d.Addr(), "admin", d.AdminAddr(), "workers", len(o.Config.Workers), "chain", strings.Join(d.Set().Strategies(), " -> "))
	return attend(ctx, d, o)
}

// start starts the gateway; wrong settings are the user's to mend.
func start(ctx context.Context, p process, o daemon.Options) (*daemon.Daemon, error) {
	o.Version, o.Getenv = version, p.getenv
	d, err := daemon.Start(ctx, o)
	var wrong *daemon.SettingsError
	if errors.As(err, &wrong) {
		return nil, usageError{err}
	}
	return d, err
}

// attend waits for the end and takes the gateway down.
func attend(ctx context.Context, d *daemon.Daemon, o daemon.Options) error {
	defer onHangUp(func() { _ = d.Reload(ctx) })() // it logs how that ends
	var failure error
	select {
	case <-ctx.Done():
		o.Logger.Info("stopping: running requests may end", "grace", o.Config.Timeouts.ShutdownGrace)
	case failure = <-d.Failed():
	}
	grace, cancel := context.WithTimeout(context.Background(), o.Config.Timeouts.ShutdownGrace)
	defer cancel()
	stopAgain := onSecondSignal(cancel)
	defer stopAgain()
	if failure = errors.Join(failure, d.Shutdown(grace)); failure == nil {
		o.Logger.Info("stopped")
	}
	return failure
}
