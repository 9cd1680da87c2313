package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategytest/rules"
)

// memorySlack is how much a process may grow over half a history: what runtimes
// keep and do not give back is of that size.
const memorySlack = 4 << 20

func pluginCheck(p process) *cli.Command {
	var list strings.Builder
	for _, r := range rules.Rules() {
		fmt.Fprintf(&list, "   %-14s %s\n", r.Name, r.Says)
	}
	return &cli.Command{
		Name:      "check",
		Usage:     "hold a strategy's executable to the rules that every strategy keeps",
		UsageText: "gatewayd plugin check PATH[:key=value...] [options]\n\nExample:\n   gatewayd plugin check ./my-strategy:slack=3",
		Description: "Starts the executable twice, in any language, and asks it what gateways ask. The rules:\n\n" + list.String() +
			"   end            it ends by itself when the host is done with it\n\n" +
			"A rule that cannot be checked is skipped and says why. Times are shown and not judged.\n" +
			"Exit codes: 0 all rules are kept, 1 one is broken or the executable does not serve strategies,\n" +
			"2 wrong options or arguments, or there is no such executable.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "strategy", Usage: "`NAME` of the only one to check, if the executable serves several"},
			&cli.StringSliceFlag{Name: "except", Usage: "`RULE` that is broken on purpose and not checked; may be repeated"},
			&cli.IntFlag{Name: "history", Value: 40_000, Usage: "`N` requests for rule memory"},
			&cli.BoolFlag{Name: "verbose", Usage: "show all that the process prints, not only warnings and errors"},
			dirFlag(),
		},
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			spec, r, err := pluginOf(c, p)
			if err != nil {
				return err
			}
			return check(c, p, spec, rules.Config{
				Options: r.Options, Except: c.StringSlice("except"), History: c.Int("history"), MemorySlack: memorySlack,
			})
		},
	}
}

// pluginOf reads the command's argument.
func pluginOf(c *cli.Context, p process) (plugin.Spec, ref.Ref, error) {
	text, err := operand(c, "PATH or NAME")
	if err != nil {
		return plugin.Spec{}, ref.Ref{}, err
	}
	r, err := ref.Parse(text)
	if err != nil {
		return plugin.Spec{}, r, usageError{err}
	}
	dir, err := pluginDir(c)
	if err != nil {
		return plugin.Spec{}, r, err
	}
	spec, err := specOf(r, dir, pluginLogger(p, c.Bool("verbose")))
	if err != nil {
		return plugin.Spec{}, r, usageError{err}
	}
	return spec, r, nil
}

// check starts the executable twice and holds each of its strategies to the rules.
func check(c *cli.Context, p process, spec plugin.Spec, cfg rules.Config) error {
	one, err := launch(c.Context, spec)
	if err != nil {
		return err
	}
	defer one.Close()
	two, err := launch(c.Context, spec)
	if err != nil {
		return fmt.Errorf("a second process: %w", err)
	}
	defer two.Close()
	fmt.Fprintf(p.stdout, "%s: protocol %d, started in %v\n", spec.Path, one.Describe().Protocol, one.took)
	cfg.Memory = residentMemory(one.Pid())
	checked, broken := 0, 0
	twins := two.Describe().Definitions
	for i, d := range one.Describe().Definitions {
		if only := c.String("strategy"); only != "" && only != d.Name {
			continue
		}
		if cfg.Twin = nil; i < len(twins) && twins[i].Name == d.Name {
			cfg.Twin = &twins[i]
		}
		report, err := rules.Check(c.Context, d, cfg)
		if err != nil {
			return usageError{err}
		}
		if err := one.Err(); err != nil {
			fmt.Fprintf(p.stderr, "the process ended during the check: %v\n", err)
		}
		if checked++; i == len(one.Describe().Definitions)-1 || c.String("strategy") != "" {
			report.Results = append(report.Results, ending(two, patientStop))
		}
		if err := report.Write(p.stdout); err != nil {
			return err
		}
		broken += len(report.Broken())
	}
	switch {
	case c.Context.Err() != nil:
		return context.Cause(c.Context)
	case checked == 0:
		return usageError{fmt.Errorf("%s serves no strategy %q, but %s", spec.Path, c.String("strategy"), names(one.Describe().Definitions))}
	case broken > 0:
		return errors.New(count(broken, "rule is broken", "rules are broken"))
	}
	_, err = fmt.Fprintln(p.stdout, "all rules that were checked are kept")
	return err
}

// ending closes a process and says whether it ended by itself, which takes less
// than the process's StopTimeout.
func ending(s started, stop time.Duration) rules.Result {
	result := rules.Result{Rule: "end", Says: "it ends by itself when the host is done with it"}
	began := time.Now()
	s.Close()
	if took := time.Since(began); took >= stop {
		result.Findings = []string{fmt.Sprintf("it still ran %v after its standard input had ended, and was killed", stop)}
	}
	return result
}

// residentMemory reads what a process holds in memory; Linux tells.
func residentMemory(pid int) func() (uint64, error) {
	return func() (uint64, error) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			return 0, err
		}
		var size, resident uint64
		if _, err := fmt.Sscan(string(b), &size, &resident); err != nil {
			return 0, fmt.Errorf("/proc/%d/statm: %w", pid, err)
		}
		return resident * uint64(os.Getpagesize()), nil
	}
}

func names(definitions []router.Definition) string {
	var out []string
	for _, d := range definitions {
		out = append(out, d.Name)
	}
	return strings.Join(out, ", ")
}
