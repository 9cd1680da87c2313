package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/calibrate"
	"gatewayd/benchlab/calibrate/probe"
	"gatewayd/benchlab/engine"
)

// probed measures the worker of --target.
func probed(c *cli.Context) (*calibrate.Run, engine.Profile, error) {
	config := probe.Config{
		Target: c.String("target"), Model: c.String("model"),
		Requests: c.Int("probe-requests"), Timeout: c.Duration("probe-time"), Salt: rand.Uint64(),
	}
	if config.Requests < 1 || config.Timeout <= 0 {
		return nil, engine.Profile{}, usage("--probe-requests and --probe-time must be above 0")
	}
	if name := c.String("api-key-file"); name != "" {
		key, err := os.ReadFile(name)
		if err != nil {
			return nil, engine.Profile{}, usage("--api-key-file: %w", err)
		}
		config.APIKey = strings.TrimSpace(string(key))
	}
	live, err := probe.New(config)
	if err != nil {
		return nil, engine.Profile{}, usage("--target: %w", err)
	}
	run, found, err := live.Run(c.Context)
	if err != nil {
		return nil, engine.Profile{}, err
	}
	run.Name, run.Model = "probe-"+found.Model, calibrate.ModelName(found.Model)
	noteFindings(run, found, c)
	return run, engine.Profile{KVBlocks: found.KVBlocks}, nil
}

// noteFindings notes what a probe found besides times.
func noteFindings(run *calibrate.Run, f probe.Findings, c *cli.Context) {
	note := func(format string, args ...any) { run.Notes = append(run.Notes, fmt.Sprintf(format, args...)) }
	note("probed %s with %d requests; the shortest round trip, %v, is taken off each wait", c.String("target"), len(run.Requests), f.RoundTrip.Round(time.Microsecond))
	if f.KVBlocks > 0 {
		note("the worker says that it has %d KV blocks of %d tokens", f.KVBlocks, f.BlockTokens)
	}
	switch {
	case f.Repeated < 2:
		note("prefix cache: -, no prompt was repeated")
	default:
		note("prefix cache: a repeated prompt had its first token after %v, then %v; %d tokens counted as cached",
			f.FirstTTFT.Round(time.Microsecond), f.AgainTTFT.Round(time.Microsecond), f.CachedTokens)
	}
	if !c.IsSet("max-seqs") || !c.IsSet("max-batched-tokens") {
		note("ASSUMED: vLLM's default limits of a step, where --max-seqs or --max-batched-tokens is not given")
	}
}
