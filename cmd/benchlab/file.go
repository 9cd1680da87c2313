package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"
)

// file is a result that becomes visible when it is complete: until then it is a
// new file beside the one that it replaces, so a run that fails leaves an older
// result alone. Devices and pipes are written directly. A nil file is none.
type file struct {
	*os.File
	name string // what it becomes in the end; "" if it is it already
}

// openJSON opens the file of --json; nil if there is none, or it is "-".
func openJSON(c *cli.Context) (*file, error) {
	name := c.String("json")
	if name == "" || name == "-" {
		return nil, nil
	}
	f, err := openFile(name)
	if err != nil {
		return nil, usage("--json: %w", err)
	}
	return f, nil
}

// openFile opens a file of that name.
func openFile(name string) (*file, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &file{File: f}, nil
	default:
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if wrong := new(fs.PathError); errors.As(err, &wrong) {
		return nil, &fs.PathError{Op: "create", Path: name, Err: wrong.Err}
	}
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o644)
	if info != nil {
		mode = info.Mode().Perm()
	}
	if err := f.Chmod(mode); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return &file{f, name}, nil
}

// keep closes the file, which is complete.
func (f *file) keep() error {
	if f == nil {
		return nil
	}
	if err := f.Close(); err != nil || f.name == "" {
		return err
	}
	return os.Rename(f.Name(), f.name)
}

// discard takes the file away.
func (f *file) discard() {
	if f == nil {
		return
	}
	f.Close()
	if f.name != "" {
		os.Remove(f.Name())
	}
}
