package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/replay"
)

const (
	replayHelp = "Requests are sent when the schedule says so, whatever became of earlier ones, and their latency counts from\n" +
		"then. Prompts are made of common words; equal block ids of the trace give equal text. Before it begins, the server\n" +
		"is asked for its models and sent two short prompts, to learn how it counts tokens. Ctrl-C ends it early; what was\n" +
		"answered until then is reported."
	replayExamples = "   benchlab replay --target http://127.0.0.1:8080 --requests 500\n" +
		"   benchlab replay --target https://api.example.com --api-key-file key --trace traffic.jsonl.gz --rate-scale 0.1 --json result.json"
)

func (p program) replay() *cli.Command {
	return &cli.Command{
		Name:         "replay",
		Usage:        "send recorded traffic to a server with an OpenAI-compatible API, on schedule, and measure it",
		Description:  replayHelp + "\n\nExamples:\n" + replayExamples + "\n\n" + exitCodes,
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "target", Usage: "base `URL` of the server, as http://127.0.0.1:8080"},
			&cli.StringFlag{Name: "model", Usage: "`NAME` of the model to ask for", DefaultText: "the first one that the server lists"},
			&cli.StringFlag{Name: "api-key-file", Usage: "`FILE` with the key to send"},
			&cli.StringFlag{Name: "endpoint", Value: string(replay.Chat), Usage: "`API` to use: chat or completions"},
			&cli.StringFlag{Name: "trace", Usage: "recorded traffic in `FILE`, of any format that trace info knows, also .gz or .zst", DefaultText: "the built-in one"},
			&cli.IntFlag{Name: "requests", Usage: "use the first `N` requests only", DefaultText: "all"},
			&cli.Float64Flag{Name: "rate-scale", Value: 1, Usage: "multiply the request rate by `X`"},
			&cli.IntFlag{Name: "sessions", Usage: "use `N` whole sessions only", DefaultText: "all"},
			&cli.DurationFlag{Name: "session-window", Value: time.Hour, Usage: "sessions without a common clock start within `TIME`"},
			&cli.DurationFlag{Name: "max-think", Usage: "shorten longer think times of such sessions to `TIME`", DefaultText: "as recorded"},
			&cli.BoolFlag{Name: "sessions-apart", Usage: "such sessions share no tools and no system prompt", DefaultText: "off"},
			&cli.StringFlag{Name: "timing", Value: string(replay.Recorded), DefaultText: "recorded, sessions without a common clock", Usage: "`MODE` of arrivals: recorded, or sessions, where a turn follows its predecessor's answer"},
			&cli.Float64Flag{Name: "dilation", Value: 1, Usage: "let a second of the trace take `X` seconds, for workers at --speed 1/X; latencies are given in the trace's time"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` draws arrivals inside the recorder's tick, and session starts"},
			&cli.StringFlag{Name: "affinity", Value: "header", Usage: "`HOW` requests name their session: header, prompt_cache_key, both or none"},
			&cli.StringFlag{Name: "session-header", Value: "X-Session-Id", Usage: "`NAME` of that header"},
			&cli.Uint64Flag{Name: "salt", Usage: "`N` that makes the texts of this run; runs with different ones share no cached prompt", DefaultText: "drawn anew"},
			&cli.Float64Flag{Name: "bytes-per-token", Usage: "take `X` bytes of prompt text for a token", DefaultText: "measured"},
			&cli.Float64Flag{Name: "fixed-tokens", Usage: "take `X` tokens of each prompt for what the server itself adds; with --bytes-per-token"},
			&cli.StringFlag{Name: "exact-output", Value: "auto", Usage: "`WHETHER` to send ignore_eos and min_tokens, so that answers get the recorded length: yes, no or auto, which tries it"},
			&cli.IntFlag{Name: "max-in-flight", Value: 4096, Usage: "send no request while `N` are open; it fails as not_sent"},
			&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "give a request up after `TIME`"},
			&cli.StringFlag{Name: "slo", Value: "ttft=2s,tpot=50ms", Usage: "`BOUNDS` that a good request keeps"},
			&cli.StringFlag{Name: "json", Usage: "write everything to `FILE`; - writes it to standard output in place of the table"},
			&cli.StringFlag{Name: "requests-out", Usage: "write what became of every request to `FILE` as JSON lines"},
		},
		Action: p.runReplay,
	}
}

func (p program) runReplay(c *cli.Context) error {
	slo, err := parseSLO(c.String("slo"))
	if err != nil {
		return err
	}
	config, sum, err := replayConfig(c)
	if err != nil {
		return err
	}
	out, err := openReplayFiles(c)
	if err != nil {
		return err
	}
	defer out.discard()
	if err := ask(c, &config); err != nil {
		return err
	}
	bar := p.sending(len(config.Trace.Requests))
	config.Options.Progress = bar.set
	result, err := replay.Run(c.Context, config)
	bar.close()
	if err != nil {
		return usageError{err}
	}
	report := result.Report(slo)
	report.Command, report.Trace.SHA256 = commandLine(p.args), sum
	if err := out.write(p, report, result); err != nil {
		return err
	}
	if result.Interrupted {
		return errors.New("interrupted")
	}
	return nil
}

// replayConfig reads flags and trace.
func replayConfig(c *cli.Context) (config replay.Config, sha256 string, err error) {
	if config.Target, err = targetURL(c.String("target")); err != nil {
		return config, "", err
	}
	key := ""
	if name := c.String("api-key-file"); name != "" {
		if key, err = readKey(name); err != nil {
			return config, "", err
		}
	}
	rows, scale := c.Int("requests"), c.Float64("rate-scale")
	if rows < 0 {
		return config, "", usage("--requests %d: give a number of requests, 0 for all", rows)
	}
	in, err := readTrace(c.String("trace"))
	if err != nil {
		return config, "", usage("--trace: %w", err)
	}
	traffic := traffic{input: in, rows: rows, scale: scale}
	if err := traffic.readSessions(c); err != nil {
		return config, "", err
	}
	prepared, err := traffic.prepare(c.Uint64("seed"))
	if err != nil {
		return config, "", err
	}
	config.Trace, config.Model = prepared.trace, c.String("model")
	config.Options = replay.Options{
		APIKey: key, Endpoint: replay.Endpoint(c.String("endpoint")), Timing: replay.Timing(traffic.timing(c)),
		Dilation: c.Float64("dilation"), Salt: c.Uint64("salt"),
		Tokens:      replay.Tokens{BytesPerToken: c.Float64("bytes-per-token"), Fixed: c.Float64("fixed-tokens")},
		MaxInFlight: c.Int("max-in-flight"), Timeout: c.Duration("timeout"),
	}
	if !c.IsSet("salt") {
		config.Options.Salt = rand.Uint64()
	}
	switch how := c.String("affinity"); how {
	case "none":
	case "header", "both", "prompt_cache_key":
		if how != "prompt_cache_key" {
			config.Options.SessionHeader = c.String("session-header")
		}
		config.Options.CacheKey = how != "header"
	default:
		return config, "", usage("--affinity %q: give header, prompt_cache_key, both or none", how)
	}
	switch exact := c.String("exact-output"); exact {
	case "yes", "no", "auto":
		config.Options.Exact = exact == "yes"
	default:
		return config, "", usage("--exact-output %q: give yes, no or auto", exact)
	}
	if err := config.Check(); err != nil {
		return config, "", usageError{err}
	}
	return config, in.sha256, nil
}

// ask learns from the server what the flags leave open.
func ask(c *cli.Context, config *replay.Config) (err error) {
	if config.Model == "" {
		if config.Model, err = replay.Model(c.Context, *config); err != nil {
			return brokenOff(c.Context, fmt.Errorf("--model: %w", err))
		}
	}
	counted, sure := c.IsSet("bytes-per-token"), c.String("exact-output") != "auto"
	if counted && sure {
		return nil
	}
	m, err := replay.Measure(c.Context, *config)
	if err != nil {
		return brokenOff(c.Context, fmt.Errorf("--bytes-per-token: %w", err))
	}
	if !counted {
		config.Options.Tokens = m.Tokens
	}
	if !sure {
		config.Options.Exact = m.Exact
	}
	return nil
}

// brokenOff is the error of something that the end of ctx may have broken off.
func brokenOff(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}
