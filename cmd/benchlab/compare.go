package main

import (
	"math"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
)

// defaultScale is the rate scale of the built-in trace: 8 workers of the default
// profile under least-busy then have a prefill utilisation of 60 to 70 %.
const defaultScale = 3.8

const (
	defaultProfile = "llama-3.1-8b-h100"
	maxSimWorkers  = 1024
)

func defaultContenders() []string {
	return []string{"round-robin", "least-busy", "sticky", "cacheroute", "cacheroute+sticky+joule", "joule", "carbon"}
}

func (p program) compare() *cli.Command {
	return &cli.Command{
		Name:  "compare",
		Usage: "run the same traffic through several strategies and print one table",
		Description: "Simulates every contender in virtual time, with the code that serves live traffic.\n" +
			"Equal arguments give equal bytes on standard output; wall-clock figures go to standard error.",
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "trace", Usage: "recorded traffic in `FILE` (Mooncake JSONL, also .gz or .zst)", DefaultText: "the built-in one"},
			&cli.IntFlag{Name: "requests", Usage: "use the first `N` requests only", DefaultText: "all"},
			&cli.Float64Flag{Name: "rate-scale", Usage: "multiply the request rate by `X`", DefaultText: "3.8 for the built-in trace, 1 for a file"},
			&cli.StringSliceFlag{Name: "strategy", Usage: "a contender: `NAME|PATH[:key=value...]`, several joined with + make a chain; repeatable"},
			&cli.IntFlag{Name: "workers", Value: 8, Usage: "`N` equal workers"},
			&cli.StringFlag{Name: "profile", Value: defaultProfile, Usage: "what the workers are: an engine profile's `NAME`"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` draws arrivals inside the recorder's tick, and all that strategies draw"},
			&cli.StringFlag{Name: "slo", Value: "ttft=2s,tpot=50ms", Usage: "`BOUNDS` that a good request keeps"},
			&cli.DurationFlag{Name: "plan-delay", Value: 50 * time.Millisecond, Usage: "virtual `TIME` until a plan is in force"},
			&cli.DurationFlag{Name: "decision-delay", Usage: "virtual `TIME` of a call to a strategy"},
			&cli.StringFlag{Name: "json", Usage: "write everything to `FILE`; - writes it to standard output in place of the table"},
		},
		Action: func(c *cli.Context) error {
			s, err := newStudy(c)
			if err != nil {
				return err
			}
			out, err := p.openOutput(c.String("json"))
			if err != nil {
				return err
			}
			result, err := p.simulate(c.Context, s)
			if err != nil {
				out.discard()
				return err
			}
			return out.write(result)
		},
	}
}

// study is a comparison to be made.
type study struct {
	setup      report.Setup
	config     sim.Config // but for the chain
	slo        measure.SLO
	contenders []contender
}

// newStudy reads flags and trace.
func newStudy(c *cli.Context) (*study, error) {
	s := &study{}
	var err error
	if s.contenders, err = parseContenders(c.StringSlice("strategy")); err != nil {
		return nil, err
	}
	if s.slo, err = parseSLO(c.String("slo")); err != nil {
		return nil, err
	}
	profile, err := engine.ProfileByName(c.String("profile"))
	if err != nil {
		return nil, usage("--profile: %w", err)
	}
	workers, rows, scale := c.Int("workers"), c.Int("requests"), c.Float64("rate-scale")
	if workers < 1 || workers > maxSimWorkers {
		return nil, usage("--workers %d: give a number from 1 to %d", workers, maxSimWorkers)
	}
	if rows < 0 {
		return nil, usage("--requests %d: give a number of requests, 0 for all", rows)
	}
	if c.IsSet("rate-scale") && !(scale > 0 && scale <= math.MaxFloat32) {
		return nil, usage("--rate-scale %v: give a positive number, 1 for the recorded rate", scale)
	}
	if !c.IsSet("rate-scale") {
		if scale = 1; c.String("trace") == "" {
			scale = defaultScale
		}
	}
	plans, decisions := c.Duration("plan-delay"), c.Duration("decision-delay")
	if plans < 0 || decisions < 0 {
		return nil, usage("--plan-delay and --decision-delay must not be negative")
	}
	in, err := readTrace(c.String("trace"))
	if err != nil {
		return nil, usage("--trace: %w", err)
	}
	seed := c.Uint64("seed")
	t := in.trace.Spread(seed)
	if rows > 0 {
		t = t.Cut(rows)
	}
	if t = t.InferSessions(0); scale != 1 {
		if t, err = t.Scale(scale); err != nil {
			return nil, usage("--rate-scale: %w", err)
		}
	}
	s.config = sim.Config{
		Trace: t, Workers: sim.Fleet(workers, profile), Seed: seed,
		Options: sim.Options{PlanDelay: plans, DecisionDelay: decisions},
	}
	s.setup = newSetup(s.config, in.sha256, scale, s.slo)
	return s, nil
}
