package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gatewayd/benchlab/report"
)

// output is where a comparison goes.
type output struct {
	text, json io.Writer // nil: not asked for
	file       *os.File  // behind json
	name       string    // what file becomes in the end; "" if it is it already
}

// openOutput opens the place of the JSON, so that a wrong name is noticed before
// the work is done. The name - stands for standard output, without the table.
func (p program) openOutput(jsonTo string) (output, error) {
	switch jsonTo {
	case "":
		return output{text: p.stdout}, nil
	case "-":
		return output{json: p.stdout}, nil
	}
	f, name, err := openResult(jsonTo)
	if err != nil {
		return output{}, usage("--json: %w", err)
	}
	return output{text: p.stdout, json: f, file: f, name: name}, nil
}

// openResult opens a new file beside name, which it replaces when the work is
// done, so that a run that fails leaves an older result alone. Devices and pipes
// are written directly.
func openResult(name string) (f *os.File, replaces string, err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, "", err
	case !info.Mode().IsRegular():
		f, err = os.OpenFile(name, os.O_WRONLY, 0)
		return f, "", err
	default:
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return nil, "", err
		}
	}
	f, err = os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, "", err
	}
	mode := fs.FileMode(0o644)
	if info != nil {
		mode = info.Mode().Perm()
	}
	if err := f.Chmod(mode); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, "", err
	}
	return f, name, nil
}

func (o output) write(c *report.Comparison) error {
	err := o.writeTo(c)
	if err != nil {
		o.discard()
		return err
	}
	if o.file == nil {
		return nil
	}
	if err := o.file.Close(); err != nil || o.name == "" {
		return err
	}
	return os.Rename(o.file.Name(), o.name)
}

func (o output) writeTo(c *report.Comparison) error {
	if o.text != nil {
		if err := c.WriteText(o.text); err != nil {
			return err
		}
	}
	if o.json != nil {
		return c.WriteJSON(o.json)
	}
	return nil
}

// discard takes away the file that this run made and that would be incomplete.
func (o output) discard() {
	if o.file != nil {
		o.file.Close()
		if o.name != "" {
			os.Remove(o.file.Name())
		}
	}
}
