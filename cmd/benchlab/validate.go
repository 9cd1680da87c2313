package main

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/calibrate"
	"gatewayd/benchlab/engine"
)

func (p program) validate() *cli.Command {
	return &cli.Command{
		Name:  "validate",
		Usage: "replay a recorded run of a real engine and print how far a profile is off",
		Description: "Errors are 100*(simulated - recorded)/recorded in per cent, over the requests after the first N by arrival.\n" +
			"A run is a directory with meta.json, requests.jsonl, workload_hashed.jsonl and timeseries.csv, plain or with .gz.",
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "`DIR` with the recorded run"},
			&cli.StringFlag{Name: "profile", Usage: "an engine profile's `NAME|FILE`"},
			&cli.IntFlag{Name: "skip", Usage: "leave the first `N` requests by arrival out of the errors"},
			assumeFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print JSON, with the errors of each request"},
		},
		Action: func(c *cli.Context) error {
			run, err := readRun(c)
			if err != nil {
				return err
			}
			profile, err := someProfile(c, c.String("profile"))
			if err != nil {
				return err
			}
			v, err := calibrate.Validate(run, profile, c.Int("skip"))
			if err != nil {
				return usage("%w", err)
			}
			if c.Bool("json") {
				return v.WriteJSON(p.stdout)
			}
			return v.WriteText(p.stdout)
		},
	}
}

// readRun reads the run of --run.
func readRun(c *cli.Context) (*calibrate.Run, error) {
	dir := c.String("run")
	if dir == "" {
		return nil, usage("--run is missing: give the directory of a recorded run")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usage("--run %s is no directory", dir)
	}
	name, err := filepath.Abs(dir)
	if err != nil {
		return nil, usage("--run: %w", err)
	}
	run, err := calibrate.ReadRun(os.DirFS(dir), filepath.Base(name))
	if err != nil {
		return nil, usage("--run: %w", err)
	}
	return run, nil
}

func assumeFlag() cli.Flag {
	return &cli.IntFlag{Name: "kv-blocks", Aliases: []string{"assume-kv-blocks"}, Usage: "assume a KV cache of `N` blocks", DefaultText: "the profile's"}
}

// someProfile reads a profile and applies what is assumed by flag.
func someProfile(c *cli.Context, name string) (engine.Profile, error) {
	if name == "" {
		return engine.Profile{}, usage("--profile is missing: give the name of a profile or the file of one; see benchlab profile list")
	}
	profile, err := readProfile(name)
	if err != nil {
		return profile, usage("--profile: %w", err)
	}
	return assumed(c, profile)
}

func assumed(c *cli.Context, p engine.Profile) (engine.Profile, error) {
	if !c.IsSet("kv-blocks") {
		return p, nil
	}
	n := c.Int("kv-blocks")
	if n < 1 {
		return p, usage("--kv-blocks %d: give a number of blocks from 1 on", n)
	}
	p = p.AssumeKVBlocks(n)
	if err := p.CheckPhysics(); err != nil {
		return p, usage("--kv-blocks: there is no room for so much: %w", err)
	}
	return p, nil
}
