package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFile bounds the size of a configuration file in bytes.
const maxFile = 1 << 20

// Load reads a YAML configuration over the defaults and checks it. The name
// stands for the file in errors. Nothing is guessed: an unknown key, a value of
// the wrong type or out of range, and everything that Validate refuses are
// problems of one *Error, each with its line and column. Only that no worker is
// named is left to Validate: flags may name them.
//
// Files that the configuration names are not opened: see LoadFile.
func Load(r io.Reader, name string) (Config, error) {
	c, d, err := read(r, name)
	if err != nil {
		return Config{}, err
	}
	if err := d.err(name); err != nil {
		return Config{}, err
	}
	return c, nil
}

// LoadFile reads the configuration file at path as Load does, takes relative
// paths in it as relative to its folder, and reads the workers' API keys.
func LoadFile(path string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	defer f.Close()
	c, d, err := read(f, path)
	if err != nil {
		return Config{}, err
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	c.resolve(folder)
	for i := range c.Workers {
		if err := c.Workers[i].readKey(); err != nil {
			d.at(fmt.Sprintf("workers[%d].api_key_file", i), err.Error(), "")
		}
	}
	for i := range c.Discovery.Sources {
		if err := c.Discovery.Sources[i].Worker.readKey(); err != nil {
			d.at(fmt.Sprintf("discovery.sources[%d].worker.api_key_file", i), err.Error(), "")
		}
	}
	if at, err := c.TLS.read(); err != nil {
		d.at(at, err.Error(), "")
	}
	if err := d.err(path); err != nil {
		return Config{}, err
	}
	return c, nil
}

// read decodes and checks one file; its problems are left in the decoder.
func read(r io.Reader, name string) (Config, *decoder, error) {
	c, d := Default(), newDecoder()
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return c, d, fmt.Errorf("read configuration %s: %w", name, err)
	}
	if len(text) > maxFile {
		return c, d, fmt.Errorf("read configuration %s: it is larger than %d bytes", name, maxFile)
	}
	if d.decode(text, &c); len(d.list) == 0 {
		check(c, &d.problems)
	}
	return c, d, nil
}

// decode fills what a pointer points to from the one document of a text.
func (d *decoder) decode(text []byte, into any) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		d.syntax(err)
		return
	}
	found := false
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if found {
			d.here(start(doc.Body), "", "a second document begins here", "keep one document in the file")
			return
		}
		found = true
		d.value(doc.Body, reflect.ValueOf(into).Elem(), "")
	}
}

// syntax notes that the file is no YAML.
func (d *decoder) syntax(err error) {
	var e yaml.Error
	if !errors.As(err, &e) {
		d.here(position{}, "", err.Error(), "")
		return
	}
	d.here(place(e.GetToken()), "", e.GetMessage(), "check the indentation and the quotes here and in the line before")
}
