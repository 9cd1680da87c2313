package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/page"
	"gatewayd/benchlab/report"
)

// report is the command that makes a page of a result.
func (p program) report() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "make a page for a browser from a result in JSON", ArgsUsage: "RESULT.json", OnUsageError: wrongFlag,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "html", Usage: "write the page to `FILE`; - is standard output"},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Len() != 1 || c.String("html") == "" {
				return usage("report takes one result and where its page goes: benchlab report --html report.html result.json")
			}
			made, err := readPage(c.Args().First())
			if err != nil {
				return err
			}
			return p.writePage(c.String("html"), made)
		},
	}
}

// readPage makes the page of a result in a file.
func readPage(name string) (*page.Page, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usage("report: %w", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, usage("report: %s is empty; make a result with benchlab compare --json %s", name, name)
	}
	comparison, sweep, err := report.Read(bytes.NewReader(data))
	switch {
	case err != nil:
		return nil, usage("report: %s: %w", name, err)
	case comparison != nil:
		return page.Comparison(comparison), nil
	default:
		return page.Sweep(sweep), nil
	}
}

// writePage writes a page to a file that is new or replaced when it is complete,
// or to standard output.
func (p program) writePage(name string, made *page.Page) error {
	if name == "-" {
		return made.Write(p.stdout)
	}
	f, err := openFile(name)
	if err != nil {
		return usage("--html: %w", err)
	}
	if err := made.Write(f); err != nil {
		f.discard()
		return fmt.Errorf("--html %s: %w", name, err)
	}
	if err := f.keep(); err != nil {
		return fmt.Errorf("--html %s: %w", name, err)
	}
	return nil
}
