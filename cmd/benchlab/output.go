package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/page"
	"gatewayd/benchlab/report"
)

// result is what a command found out: a report.Comparison or a report.Sweep.
type result interface {
	WriteText(io.Writer) error
	WriteJSON(io.Writer) error
	WriteCSV(io.Writer) error
}

// outputs are where a result goes.
type outputs struct {
	p               program
	json, csv, html *file // nil: not asked for
	plain           bool  // JSON goes to standard output, in place of the text
	requests        *requestLog
	log             *file // of requests
}

// outputFlags say where a result goes.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "json", Usage: "write everything to `FILE`; - writes it to standard output in place of the text"},
		&cli.StringFlag{Name: "csv", Usage: "write all figures to `FILE`"},
		&cli.StringFlag{Name: "html", Usage: "write a page for a browser to `FILE`"},
	}
}

// openOutputs opens all files, so that a wrong name is noticed before the work is
// done. Of JSON, the name - stands for standard output.
func (p program) openOutputs(c *cli.Context) (*outputs, error) {
	o := &outputs{p: p, plain: c.String("json") == "-"}
	taken := map[string]string{} // by name of a file, the flag that gave it
	for _, x := range []struct {
		flag string
		into **file
	}{{"json", &o.json}, {"csv", &o.csv}, {"html", &o.html}, {"requests-out", &o.log}} {
		name := c.String(x.flag)
		if name == "" || name == "-" && x.flag == "json" {
			continue
		}
		var err error
		if *x.into, err = o.open(name, x.flag, taken); err != nil {
			o.discard()
			return nil, usage("--%s: %w", x.flag, err)
		}
	}
	if o.log != nil {
		o.requests = newRequestLog(o.log)
	}
	return o, nil
}

// open opens one file, which no other flag may have given.
func (o *outputs) open(name, flag string, taken map[string]string) (*file, error) {
	if name == "-" {
		return nil, errors.New("give the name of a file; only --json writes to standard output")
	}
	f, err := openFile(name)
	if err != nil || f.name == "" {
		return f, err
	}
	path, err := filepath.Abs(f.name)
	if other := taken[path]; err == nil && other != "" {
		err = fmt.Errorf("%s is that of --%s too; give each its own file", name, other)
	}
	if err != nil {
		f.discard()
		return nil, err
	}
	taken[path] = flag
	return f, nil
}

// write writes the result everywhere. Timing goes to standard error and into the
// JSON file; on standard output equal arguments give equal bytes.
func (o *outputs) write(r result, t *report.Timing) error {
	if o.json != nil {
		if err := r.WriteJSON(o.json); err != nil {
			return err
		}
	}
	if o.csv != nil {
		if err := r.WriteCSV(o.csv); err != nil {
			return err
		}
	}
	if o.html != nil {
		if err := pageOf(r).Write(o.html); err != nil {
			return err
		}
	}
	if err := o.requests.flush(); err != nil {
		return err
	}
	for _, f := range []**file{&o.json, &o.csv, &o.html, &o.log} {
		if err := (*f).keep(); err != nil {
			return err
		}
		*f = nil
	}
	if err := o.show(r); err != nil {
		return err
	}
	o.p.print(t)
	return nil
}

func (o *outputs) show(r result) error {
	if !o.plain {
		return r.WriteText(o.p.stdout)
	}
	if s, ok := r.(*report.Sweep); ok {
		return s.Reproducible().WriteJSON(o.p.stdout)
	}
	return r.(*report.Comparison).Reproducible().WriteJSON(o.p.stdout)
}

// pageOf is the result for a browser.
func pageOf(r result) *page.Page {
	if s, ok := r.(*report.Sweep); ok {
		return page.Sweep(s)
	}
	return page.Comparison(r.(*report.Comparison))
}

// discard takes away the files that this run made and that would be incomplete.
func (o *outputs) discard() {
	for _, f := range []*file{o.json, o.csv, o.html, o.log} {
		f.discard()
	}
}
