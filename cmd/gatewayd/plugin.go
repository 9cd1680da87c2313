package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// pluginCommand gathers what an author of strategies needs.
func pluginCommand(p process) *cli.Command {
	return &cli.Command{
		Name:         "plugin",
		Usage:        "write, check, look at and replace strategies",
		UsageText:    "gatewayd plugin COMMAND [options]\n\nExample: a new strategy, checked\n   gatewayd plugin new my-strategy --sdk ~/src/gatewayd\n   cd my-strategy && go build && gatewayd plugin check ./my-strategy",
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usageError{fmt.Errorf("there is no command plugin %q\nhint: gatewayd plugin --help lists the commands", c.Args().First())}
			}
			return cli.ShowSubcommandHelp(c)
		},
		Subcommands: []*cli.Command{pluginNew(p), pluginCheck(p), pluginDescribe(p), pluginList(p), pluginSwap(p)},
	}
}

// operands returns a command's arguments that are not options. Options may come
// behind them, which the parser leaves alone.
func operands(c *cli.Context) ([]string, error) {
	var out []string
	for rest := c.Args().Slice(); len(rest) > 0; {
		arg := rest[0]
		rest = rest[1:]
		if !strings.HasPrefix(arg, "-") {
			out = append(out, arg)
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch flag := flagOf(c, name).(type) {
		case nil:
			return nil, usageError{fmt.Errorf("there is no option %s\nhint: %s --help lists the options", arg, c.Command.HelpName)}
		case *cli.BoolFlag:
			if !given {
				value = "true"
			}
		default:
			if !given && len(rest) == 0 {
				return nil, usageError{fmt.Errorf("option %s needs a value\nhint: %s --help lists the options", arg, c.Command.HelpName)}
			}
			if !given {
				value, rest = rest[0], rest[1:]
			}
			name = flag.Names()[0]
		}
		if err := c.Set(name, value); err != nil {
			return nil, usageError{fmt.Errorf("option %s: %w", arg, err)}
		}
	}
	return out, nil
}

func flagOf(c *cli.Context, name string) cli.Flag {
	for _, f := range c.Command.Flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

// operand returns the one argument that a command takes.
func operand(c *cli.Context, what string) (string, error) {
	args, err := operands(c)
	if err == nil && len(args) != 1 {
		err = usageError{fmt.Errorf("%s takes one argument, %s, got %d\nhint: %s --help shows an example", c.Command.HelpName, what, len(args), c.Command.HelpName)}
	}
	if err != nil {
		return "", err
	}
	return args[0], nil
}
