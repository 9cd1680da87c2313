// Command benchlab finds out which routing strategy is better on given traffic.
// docs/benchlab.md says how to use it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/urfave/cli/v2"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1  // the run failed
	exitUsage   = 2  // arguments or input are wrong
	exitCrossed = 99 // a threshold was crossed
)

// version is set by the linker.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := program{
		args: os.Args, stdout: os.Stdout, stderr: os.Stderr, terminal: isTerminal(os.Stderr),
	}.run(ctx)
	stop()
	os.Exit(code)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// program is all that a command touches of the world besides files and sockets.
type program struct {
	args           []string // the first is the program's name
	stdout, stderr io.Writer
	terminal       bool // stderr is one
}

// run runs the command in args until it is done or the context ends, and returns
// the exit code.
func (p program) run(ctx context.Context) int {
	err := p.app().RunContext(ctx, p.args)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(p.stderr, "benchlab:", err)
	switch {
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.As(err, new(thresholdError)):
		return exitCrossed
	}
	return exitFailed
}

// usageError is an error in arguments or input.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// thresholdError says which thresholds were crossed, in a run that went well.
type thresholdError struct{ error }

func (e thresholdError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func (p program) app() *cli.App {
	return &cli.App{
		Name:                      "benchlab",
		Usage:                     "which routing strategy is better on your traffic, and by how much",
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              wrongFlag,
		Commands:                  []*cli.Command{p.compare(), p.sweep(), p.paper(), p.survey(), p.report(), p.replay(), p.worker(), p.trace(), p.calibrate(), p.validate(), p.profile(), p.version()},
		Action:                    group,
	}
}

// wrongFlag turns an error of a flag into one of usage.
func wrongFlag(c *cli.Context, err error, _ bool) error {
	return usage("%w; see %s --help", err, c.Command.HelpName)
}

// group is the action of a command that only has subcommands.
func group(c *cli.Context) error {
	if !c.Args().Present() {
		return cli.ShowSubcommandHelp(c)
	}
	return usage("there is no command %q; see %s --help", c.Args().First(), c.App.HelpName)
}

// noArgs refuses arguments that a command has no use for.
func noArgs(c *cli.Context) error {
	if c.Args().Present() {
		return usage("%s takes flags only, not %q; see %s --help", c.Command.Name, c.Args().First(), c.Command.HelpName)
	}
	return nil
}

func (p program) version() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", OnUsageError: wrongFlag, Before: noArgs,
		Action: func(*cli.Context) error {
			_, err := fmt.Fprintln(p.stdout, "benchlab", built())
			return err
		},
	}
}

func built() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
