package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/engine"
)

func (p program) profile() *cli.Command {
	asJSON := &cli.BoolFlag{Name: "json", Usage: "print JSON"}
	return &cli.Command{
		Name: "profile", Usage: "show engine profiles: what a step costs, and what that implies for the GPUs",
		OnUsageError: wrongFlag, Action: group,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the built-in profiles with their implied efficiency; - is unknown",
				OnUsageError: wrongFlag, Before: noArgs, Flags: []cli.Flag{asJSON},
				Action: func(c *cli.Context) error {
					var list []sheet
					for _, x := range engine.Profiles() {
						list = append(list, newSheet(x))
					}
					if c.Bool("json") {
						return p.indented(list)
					}
					return writeSheets(p.stdout, list)
				},
			},
			{
				Name: "show", Usage: "show one profile, built in or from a file, against the limits of its GPUs",
				ArgsUsage: "NAME|FILE", OnUsageError: wrongFlag, Flags: []cli.Flag{assumeFlag(), asJSON},
				Action: func(c *cli.Context) error {
					if c.NArg() != 1 {
						return usage("give one profile's name or file, after the flags; see benchlab profile list")
					}
					profile, err := readProfile(c.Args().First())
					if err != nil {
						return usage("%w", err)
					}
					if profile, err = assumed(c, profile); err != nil {
						return err
					}
					if err := profile.CheckPhysics(); err != nil {
						return usage("%w", err)
					}
					s := newSheet(profile)
					if c.Bool("json") {
						return p.indented(s)
					}
					return s.write(p.stdout)
				},
			},
		},
	}
}

// sheet is a profile with what it implies.
type sheet struct {
	engine.Profile
	Limits []engine.Limit `json:"limits"`
}

func newSheet(p engine.Profile) sheet { return sheet{p, p.Limits()} }

func (p program) indented(value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", data)
	return err
}

// writeSheets writes one line a profile.
func writeSheets(w io.Writer, list []sheet) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "profile\tmodel\tGPUs\tweights TB/s\tMFU\tKV read TB/s\tattention MFU\tKV tokens\tW at 1, 64, 256 seqs")
	for _, s := range list {
		l := s.Limits
		fmt.Fprintf(t, "%s\t%s\t%d x %s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.Model, s.GPUs, s.GPU,
			rate(l[0])+share(l[0]), percent(l[1].Share), rate(l[2])+share(l[2]), percent(l[3].Share), kvTokens(s.Profile), watts(s.Profile))
	}
	return t.Flush()
}
