package main

import (
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/calibrate"
	"gatewayd/benchlab/engine"
)

func (p program) calibrate() *cli.Command {
	return &cli.Command{
		Name:  "calibrate",
		Usage: "fit an engine profile to a recorded run, or to a live worker by a short probe",
		Description: "Writes a profile file, which everything with --profile takes, and prints how sure each coefficient is; - is what\n" +
			"the run does not determine.\n\n" +
			"Examples:\n" +
			"   benchlab calibrate --run benchlab/calibrate/testdata/RTXPRO6000_Qwen3-32B --fit 150 --out fit.json\n" +
			"   benchlab calibrate --target http://127.0.0.1:8001 --gpu H100 --out live.json",
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "write the profile to `FILE`"},
			&cli.StringFlag{Name: "run", Usage: "`DIR` with a recorded run, as for validate"},
			&cli.IntFlag{Name: "fit", Usage: "only the first `N` requests by arrival enter the loss; all are replayed", DefaultText: "all"},
			&cli.StringFlag{Name: "target", Usage: "`URL` of a live worker that has nothing else to do"},
			&cli.StringFlag{Name: "model", Usage: "`NAME` of the model at the target", DefaultText: "the first one it lists"},
			&cli.StringFlag{Name: "api-key-file", Usage: "`FILE` with the key that the target wants"},
			&cli.IntFlag{Name: "probe-requests", Value: 120, Usage: "send at most `N` requests to the target, and two before"},
			&cli.DurationFlag{Name: "probe-time", Value: time.Minute, Usage: "probe for at most `TIME`"},
			&cli.StringFlag{Name: "name", Usage: "`NAME` of the profile", DefaultText: "the run's"},
			&cli.StringFlag{Name: "gpu", Usage: "the GPU's `NAME`, for physical bounds: " + strings.Join(engine.GPUNames(), ", "), DefaultText: "what the run's name begins with"},
			&cli.IntFlag{Name: "gpus", Usage: "`N` GPUs", DefaultText: "the run's; 1 for a target"},
			&cli.IntFlag{Name: "max-seqs", Usage: "`N` sequences per step", DefaultText: "the run's; vLLM's for a target"},
			&cli.IntFlag{Name: "max-batched-tokens", Usage: "`N` tokens per step", DefaultText: "the run's; vLLM's for a target"},
			assumeFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
		},
		Action: p.fit,
	}
}

func (p program) fit(c *cli.Context) error {
	if c.String("out") == "" {
		return usage("--out is missing: give the file that the profile is written to")
	}
	if c.IsSet("run") == c.IsSet("target") {
		return usage("give either --run, a recorded run, or --target, a live worker")
	}
	out, err := openFile(c.String("out"))
	if err != nil {
		return usage("--out: %w", err)
	}
	defer func() { out.discard() }()
	run, base, err := measured(c)
	if err != nil {
		return err
	}
	if base, err = assumed(c, base); err != nil {
		return err
	}
	result, err := calibrate.Calibrate(c.Context, run, base, calibrate.Options{First: c.Int("fit")})
	if c.Context.Err() != nil {
		return errors.New("interrupted")
	}
	if err != nil {
		return usage("%w", err)
	}
	if err := engine.WriteProfile(out, result.Profile); err != nil {
		return err
	}
	kept := out
	out = nil
	if err := kept.keep(); err != nil {
		return err
	}
	if c.Bool("json") {
		return result.WriteJSON(p.stdout)
	}
	return result.WriteText(p.stdout)
}

// measured returns the run to fit, and what is known besides.
func measured(c *cli.Context) (run *calibrate.Run, base engine.Profile, err error) {
	if c.IsSet("target") {
		run, base, err = probed(c)
	} else {
		run, err = readRun(c)
	}
	if err != nil {
		return nil, base, err
	}
	for _, flag := range []struct {
		name string
		into *int
	}{{"gpus", &run.GPUs}, {"max-seqs", &run.MaxSeqs}, {"max-batched-tokens", &run.MaxBatchedTokens}} {
		if !c.IsSet(flag.name) {
			continue
		}
		if *flag.into = c.Int(flag.name); *flag.into < 1 {
			return nil, base, usage("--%s %d: give a number from 1 on", flag.name, *flag.into)
		}
	}
	if base.GPU = c.String("gpu"); base.GPU == "" {
		base.GPU = calibrate.GuessGPU(run.Name)
	} else if _, ok := engine.GPUByName(base.GPU); !ok {
		return nil, base, usage("--gpu %q: there are %s", base.GPU, strings.Join(engine.GPUNames(), ", "))
	}
	if base.Name = c.String("name"); base.Name == "" {
		base.Name = strings.ToLower(run.Name)
	}
	base.Model, base.GPUs = run.Model, run.GPUs
	base.MaxSeqs, base.MaxBatchedTokens, base.BlockTokens = run.MaxSeqs, run.MaxBatchedTokens, run.BlockTokens
	return run, base, nil
}
