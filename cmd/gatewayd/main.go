// Command gatewayd is an OpenAI-compatible gateway in front of many inference
// workers, with routing strategies in processes of their own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
)

// version is set by the linker.
var version = "dev"

// Exit codes, as the help lists them.
const (
	exitOK      = 0
	exitFailure = 1 // it was started rightly and failed
	exitUsage   = 2 // flags, arguments or configuration are wrong
)

// process is what a command may touch of the operating system, so that a test
// can be one: arguments in, text and code out.
type process struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}

func main() {
	// Libraries must not print what passes through the gateway: net/http would
	// show what a worker sends unasked.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, process{os.Args, os.Stdin, os.Stdout, os.Stderr, os.Getenv}))
}

// usageError is an error that the user mends by another command line or file.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func run(ctx context.Context, p process) int {
	err := app(p).RunContext(ctx, p.args)
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitOK // done, or asked to end before it had begun
	}
	fmt.Fprintln(p.stderr, "gatewayd: "+err.Error())
	var usage usageError
	var topic cli.ExitCoder // help for a command that there is not
	if errors.As(err, &usage) || errors.As(err, &topic) {
		return exitUsage
	}
	return exitFailure
}

func app(p process) *cli.App {
	return &cli.App{
		Name:        "gatewayd",
		Usage:       "a serving gateway for large language models whose routing strategies are plugins",
		UsageText:   "gatewayd COMMAND [options]\n\nExample: two workers, planned placement of hot prefixes, then sticky sessions:\n   gatewayd serve --worker http://10.0.0.1:8000 --worker http://10.0.0.2:8000 --plugin cacheroute --plugin sticky\n\nExit codes: 0 done, 1 failed while running, 2 wrong flags, arguments or configuration.",
		HideVersion: true, Flags: []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version", DisableDefaultText: true}},
		Writer: p.stdout, ErrWriter: p.stderr,
		DisableSliceFlagSeparator: true,
		OnUsageError:              wrongUsage,
		ExitErrHandler:            func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			switch {
			case c.Args().Present():
				return usageError{fmt.Errorf("there is no command %q\nhint: gatewayd --help lists the commands", c.Args().First())}
			case c.Bool("version"):
				return printVersion(p)
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{serveCommand(p), demoCommand(p), checkCommand(p), planCommand(p), pluginCommand(p), reloadCommand(p), shadowCommand(p), versionCommand(p), strategyCommand()},
	}
}

func wrongUsage(c *cli.Context, err error, _ bool) error {
	name := "gatewayd"
	if c.Command != nil && c.Command.Name != "" {
		name = c.Command.HelpName
	}
	return usageError{fmt.Errorf("%w\nhint: %s --help lists the options", err, name)}
}

// noArguments refuses arguments that would otherwise be ignored.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return usageError{fmt.Errorf("%s takes no arguments, got %q\nhint: %s --help lists the options", c.Command.Name, c.Args().First(), c.Command.HelpName)}
	}
	return nil
}

func versionCommand(p process) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return printVersion(p)
		},
	}
}

func printVersion(p process) error {
	_, err := fmt.Fprintln(p.stdout, "gatewayd "+version)
	return err
}
