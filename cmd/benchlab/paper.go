package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/paper"
	"gatewayd/benchlab/paper/workload"
)

const paperHelp = "Repeats the study of CacheRoute (arXiv:2608.19677) with the shipped strategies in virtual time, and sets our figures\n" +
	"beside the published ones, with what can be compared and what cannot. docs/paper.md says what was assumed.\n" +
	"Equal arguments give equal bytes on standard output."

const paperExamples = "   benchlab paper --quick\n" +
	"   benchlab paper --table 4 --table 12 --json paper.json"

func (p program) paper() *cli.Command {
	return &cli.Command{
		Name:         "paper",
		Usage:        "repeat the published study of CacheRoute: our figures beside the published ones",
		Description:  paperHelp + "\n\nExamples:\n" + paperExamples + "\n\n" + exitCodes,
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "table", Usage: "only table `N` of the paper, one of " + strings.Join(paper.Numbers(), ", ") + "; repeatable", DefaultText: "all of them"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` is the first seed"},
			&cli.IntFlag{Name: "seeds", Value: paper.DefaultSeeds, Usage: "`N` seeds: each draws a population, arrivals, and all that strategies draw"},
			&cli.IntFlag{Name: "requests", Value: paper.DefaultRequests, Usage: "`N` requests a run, with empty caches at first"},
			&cli.BoolFlag{Name: "quick", DefaultText: "off", Usage: "one seed and three sizes of the active set in Table 3"},
			&cli.BoolFlag{Name: "fitted", DefaultText: "off", Usage: "the 8B profile as it is, not as slow as the published capacities say"},
			&cli.StringFlag{Name: "json", Usage: "write everything to `FILE`; - writes it to standard output in place of the text"},
		},
		Action: p.runPaper,
	}
}

func (p program) runPaper(c *cli.Context) error {
	o, err := paperOptions(c)
	if err != nil {
		return err
	}
	to, err := openJSON(c)
	if err != nil {
		return err
	}
	defer func() { to.discard() }()
	began, bar := time.Now(), p.progress(0)
	o.Progress = paperProgress{bar}
	tables, err := paper.Study(c.Context, o)
	bar.close()
	if err != nil {
		return stopped(err)
	}
	if to != nil {
		if err := paper.WriteJSON(to, tables); err != nil {
			return err
		}
		if err := to.keep(); err != nil {
			return err
		}
		to = nil
	}
	write := paper.WriteText
	if c.String("json") == "-" {
		write = paper.WriteJSON
	}
	if err := write(p.stdout, tables); err != nil {
		return err
	}
	p.took(bar, began)
	return nil
}

// took says how long a study took.
func (p program) took(bar *progress, began time.Time) {
	fmt.Fprintf(p.stderr, "%d requests simulated: %.2f s on %s\n", bar.ended.Load(), time.Since(began).Seconds(), plural(runtime.GOMAXPROCS(0), "processor"))
}

// maxPaperSeed bounds seeds, which are halves of the numbers of keys.
const maxPaperSeed = 1<<31 - 1

func paperOptions(c *cli.Context) (paper.Options, error) {
	o := paper.Options{
		Seed: c.Uint64("seed"), Seeds: c.Int("seeds"), Requests: c.Int("requests"), Keys: workload.Keys,
		Quick: c.Bool("quick"), Fitted: c.Bool("fitted"), Parallel: runtime.GOMAXPROCS(0),
	}
	const maxRequests = 1_000_000
	if o.Quick && !c.IsSet("seeds") {
		o.Seeds = 1
	}
	switch {
	case o.Seeds < 1 || o.Seeds > maxSeeds:
		return o, usage("--seeds %d: give a number from 1 to %d", o.Seeds, maxSeeds)
	case o.Seed > maxPaperSeed-maxSeeds:
		return o, usage("--seed %d: give a number up to %d", o.Seed, maxPaperSeed-maxSeeds)
	case o.Requests < 100 || o.Requests > maxRequests:
		return o, usage("--requests %d: give a number from 100, which a p99 needs, to %d", o.Requests, maxRequests)
	}
	for _, n := range c.StringSlice("table") {
		if !slices.Contains(paper.Numbers(), n) {
			return o, usage("--table %q: give one of %s", n, strings.Join(paper.Numbers(), ", "))
		}
		o.Tables = append(o.Tables, n)
	}
	return o, nil
}

// paperProgress tells a progress line of a study.
type paperProgress struct{ bar *progress }

// Expect adds requests that will be simulated.
func (p paperProgress) Expect(requests int) { p.bar.expect(requests) }

// Part returns what one run reports its ended requests to.
func (p paperProgress) Part() func(ended int) { return p.bar.part() }
