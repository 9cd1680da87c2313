package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/experiment"
	"gatewayd/benchlab/report"
)

func (p program) compare() *cli.Command {
	return &cli.Command{
		Name:         "compare",
		Usage:        "run the same traffic through several strategies and say which is better, by how much, and how sure that is",
		Description:  described(compareHelp, compareExamples),
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: slices.Concat(studyFlags(defaultSeeds), []cli.Flag{
			&cli.StringFlag{Name: "baseline", Usage: "the contender with which the others are compared: `STRATEGY` as it was given", DefaultText: "the first one"},
			&cli.StringSliceFlag{Name: "threshold", Usage: "`TEXT` that must hold, as 'ttft.p99<800ms' for all or 'sticky kv_hit>0.3' for one; else the exit code is 99; repeatable"},
			&cli.BoolFlag{Name: "oracle", Usage: "add a contender that sees into the workers, which no gateway can: what perfect knowledge of the present is worth", DefaultText: "off"},
			&cli.BoolFlag{Name: "capacity", DefaultText: "off", Usage: "also find the largest load that keeps the SLO, as sweep --capacity does"},
			&cli.StringFlag{Name: "requests-out", Usage: "write what became of every request to `FILE` as JSON lines"},
		}, outputFlags()),
		Action: p.runCompare,
	}
}

func (p program) runCompare(c *cli.Context) error {
	s, err := newStudy(c, p.args)
	if err != nil {
		return err
	}
	if c.Bool("oracle") {
		s.contenders = append(s.contenders, contender{name: oracle})
	}
	limits, err := thresholds(c)
	if err != nil {
		return err
	}
	for _, l := range limits {
		if l.Contender != "" && s.number(l.Contender) < 0 {
			return usage("--threshold %q: no contender is called %q", l.Text, l.Contender)
		}
	}
	baseline := 0
	if name := c.String("baseline"); name != "" {
		if baseline = s.number(name); baseline < 0 {
			return usage("--baseline %q: no contender is called that; there are %s", name, strings.Join(s.names(), ", "))
		}
	}
	out, err := p.openOutputs(c)
	if err != nil {
		return err
	}
	defer out.discard()
	result, err := p.race(c.Context, s, &race{baseline: baseline, capacity: c.Bool("capacity"), requests: out.requests})
	if err != nil {
		return err
	}
	if err := experiment.Judge(result, limits); err != nil {
		return usageError{err}
	}
	if err := out.write(result, result.Timing); err != nil {
		return err
	}
	return crossed(result.Thresholds)
}

// crossed is an error if a threshold was crossed.
func crossed(all []report.Verdict) error {
	var lines []string
	for i := range all {
		if all[i].Crossed {
			lines = append(lines, all[i].String())
		}
	}
	if lines == nil {
		return nil
	}
	return thresholdError{fmt.Errorf("threshold %s", strings.Join(lines, "\nbenchlab: threshold "))}
}

// names lists the contenders.
func (s *study) names() []string {
	var out []string
	for _, c := range s.contenders {
		out = append(out, c.name)
	}
	return out
}

// number is that of a contender, -1 if there is none of that name.
func (s *study) number(name string) int { return slices.Index(s.names(), name) }
