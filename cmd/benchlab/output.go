package main

import (
	"io"
	"os"

	"gatewayd/benchlab/report"
)

// output is where a comparison goes.
type output struct {
	text, json io.Writer // nil: not asked for
	file       *os.File  // behind json
}

// openOutput creates the JSON file, so that a wrong name is noticed before the
// work is done. The name - stands for standard output, without the table.
func (p program) openOutput(jsonTo string) (output, error) {
	switch jsonTo {
	case "":
		return output{text: p.stdout}, nil
	case "-":
		return output{json: p.stdout}, nil
	}
	f, err := os.Create(jsonTo)
	if err != nil {
		return output{}, usage("--json: %w", err)
	}
	return output{text: p.stdout, json: f, file: f}, nil
}

func (o output) write(c *report.Comparison) error {
	if o.text != nil {
		if err := c.WriteText(o.text); err != nil {
			o.discard()
			return err
		}
	}
	if o.json != nil {
		if err := c.WriteJSON(o.json); err != nil {
			o.discard()
			return err
		}
	}
	if o.file != nil {
		return o.file.Close()
	}
	return nil
}

// discard takes a file away that would be incomplete.
func (o output) discard() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}
