package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/paper/chain"
	"gatewayd/benchlab/paper/survey"
	"gatewayd/benchlab/sim/signal"
)

const surveyHelp = "Runs every shipped strategy on four workloads and writes one table in Markdown, as docs/strategies.md has it.\n" +
	"Equal arguments give equal bytes on standard output."

const surveyExamples = "   benchlab survey --agents benchlab/trace/testdata/recorded/sessions_dev_small84.jsonl.gz\n" +
	"   benchlab survey --strategy cacheroute --strategy sticky --strategy chwbl --quick\n" +
	"   benchlab survey --strategy cacheroute --signal all"

func (p program) survey() *cli.Command {
	return &cli.Command{
		Name:         "survey",
		Usage:        "one table of all strategies on four workloads",
		Description:  surveyHelp + "\n\nExamples:\n" + surveyExamples + "\n\n" + exitCodes,
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "strategy", Usage: "a row: `CHAIN` of the catalog is NAME[:key=value...], or several of these joined with +; repeatable", DefaultText: "the whole catalog, and a few chains"},
			&cli.StringFlag{Name: "agents", Usage: "recorded sessions of coding agents in `FILE`", DefaultText: "none: two workloads are left out"},
			&cli.StringSliceFlag{Name: "signal", Usage: "the best signal of reuse that strategies have: `NAME` is " + signal.Names() + ", or all; repeatable: a row for each, with the change against the first", DefaultText: "usage"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` is the first seed"},
			&cli.IntFlag{Name: "seeds", Value: defaultSurveySeeds, Usage: "`N` seeds: each draws arrivals, keys, starts of sessions, and all that strategies draw"},
			&cli.BoolFlag{Name: "quick", DefaultText: "off", Usage: "a twentieth of the traffic, but all agents' sessions"},
			&cli.StringFlag{Name: "json", Usage: "write everything to `FILE`; - writes it to standard output in place of the table"},
		},
		Action: p.runSurvey,
	}
}

const defaultSurveySeeds = 3

func (p program) runSurvey(c *cli.Context) error {
	o, err := surveyOptions(c)
	if err != nil {
		return err
	}
	to, err := openJSON(c)
	if err != nil {
		return err
	}
	defer func() { to.discard() }()
	began, shown := time.Now(), time.Time{}
	o.Progress = func(ended, all int) {
		now := time.Now()
		switch left := now.Sub(began) * time.Duration(all-ended) / time.Duration(ended); {
		case p.terminal:
			fmt.Fprintf(p.stderr, "\r\033[K%d of %d runs, %v left", ended, all, left.Round(time.Second))
		case now.Sub(shown) >= sparsePeriod:
			fmt.Fprintf(p.stderr, "%d of %d runs, %v left\n", ended, all, left.Round(time.Second))
			shown = now
		}
	}
	s, err := survey.Run(c.Context, o)
	if p.terminal {
		fmt.Fprint(p.stderr, "\r\033[K")
	}
	if err != nil {
		return stopped(err)
	}
	if to != nil {
		if err := s.WriteJSON(to); err != nil {
			return err
		}
		if err := to.keep(); err != nil {
			return err
		}
		to = nil
	}
	if c.String("json") == "-" {
		return s.WriteJSON(p.stdout)
	}
	return s.WriteMarkdown(p.stdout)
}

func surveyOptions(c *cli.Context) (survey.Options, error) {
	o := survey.Options{Seed: c.Uint64("seed"), Seeds: c.Int("seeds"), Quick: c.Bool("quick"), Parallel: runtime.GOMAXPROCS(0)}
	switch {
	case o.Seeds < 1 || o.Seeds > maxSeeds:
		return o, usage("--seeds %d: give a number from 1 to %d", o.Seeds, maxSeeds)
	case o.Seed > maxPaperSeed-maxSeeds:
		return o, usage("--seed %d: give a number up to %d", o.Seed, maxPaperSeed-maxSeeds)
	}
	chat, err := readTrace("")
	if err != nil {
		return o, err
	}
	o.Chat = chat.trace
	if name := c.String("agents"); name != "" {
		in, err := readTrace(name)
		if err != nil {
			return o, usage("--agents: %w", err)
		}
		o.Agents = in.trace
	}
	for _, name := range c.StringSlice("signal") {
		if name == "all" {
			o.Signals = append(o.Signals, signal.All()...)
			continue
		}
		by, err := signal.Parse(name)
		if err != nil {
			return o, usage("--signal: %w", err)
		}
		o.Signals = append(o.Signals, by)
	}
	for _, text := range c.StringSlice("strategy") {
		if _, err := chain.Open(text, o.Seed); err != nil {
			return o, usage("--strategy: %w", err)
		}
		o.Chains = append(o.Chains, text)
	}
	return o, nil
}
