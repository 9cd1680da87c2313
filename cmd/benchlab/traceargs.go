package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// arguments lists a command's arguments. Flags may stand among them.
func arguments(c *cli.Context) (args []string, err error) {
	rest := c.Args().Slice()
	for len(rest) > 0 {
		arg := rest[0]
		rest = rest[1:]
		if len(arg) < 2 || arg[0] != '-' {
			args = append(args, arg)
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		at := slices.IndexFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
		if at < 0 {
			return nil, usage("flag provided but not defined: %s; see %s --help", arg, c.Command.HelpName)
		}
		_, isBool := c.Command.Flags[at].(*cli.BoolFlag)
		switch {
		case given:
		case isBool:
			value = "true"
		case len(rest) == 0:
			return nil, usage("flag needs an argument: %s; see %s --help", arg, c.Command.HelpName)
		default:
			value, rest = rest[0], rest[1:]
		}
		if err := c.Set(name, value); err != nil {
			return nil, usage("invalid value %q for flag %s: %w", value, arg, err)
		}
	}
	return args, nil
}
