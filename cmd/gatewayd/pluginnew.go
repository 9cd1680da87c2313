package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	examples "gatewayd/examples/strategies"
	"gatewayd/pkg/strategies"
)

// sdkModule is the module that Go strategies are built against.
const sdkModule = "gatewayd"

func pluginNew(p process) *cli.Command {
	return &cli.Command{
		Name:      "new",
		Usage:     "write a new strategy's project, with tests",
		UsageText: "gatewayd plugin new NAME [--lang go|python] [--sdk DIR]\n\nExample:\n   gatewayd plugin new my-strategy --sdk ~/src/gatewayd",
		Description: "Makes a folder NAME with a strategy that works, to be changed: in Go a copy of the example\n" +
			examples.Go + ", in Python of " + examples.Python + ". A Go project is built against a checkout of this\n" +
			"repository, which its go.mod replaces: --sdk, or else the one that the folder or this executable\n" +
			"lies in. A Python project carries all that it needs but the packages of its requirements.txt.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "lang", Value: "go", Usage: "`LANGUAGE` of the project: go or python"},
			&cli.StringFlag{Name: "sdk", Usage: "`DIR` of a checkout of gatewayd, for Go"},
		},
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			name, err := operand(c, "the strategy's NAME")
			if err != nil {
				return err
			}
			files, err := project(name, c.String("lang"), c.String("sdk"))
			if err != nil {
				return usageError{err}
			}
			if err := writeProject(name, files); err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "%s has a strategy that works; %s says how to test, check and measure it\n", name, filepath.Join(name, "README.md"))
			return err
		},
	}
}

var strategyName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// project returns the files of a new strategy, by name.
func project(name, lang, sdk string) (map[string][]byte, error) {
	if !strategyName.MatchString(name) {
		return nil, fmt.Errorf("%q is no name for a strategy: it is made of lower case letters, digits and dashes, as my-strategy, and is a new folder here", name)
	}
	if _, err := strategies.Find(name); err == nil {
		return nil, fmt.Errorf("there is a built-in strategy %s\nhint: another name keeps the two apart in receipts and metrics", name)
	}
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("%s is there already\nhint: choose another name, or another folder to work in", name)
	}
	switch lang {
	case "go":
		files, err := copied(examples.Go, name)
		if err == nil {
			err = addModule(files, name, sdk)
		}
		return files, err
	case "python":
		return copied(examples.Python, name)
	}
	return nil, fmt.Errorf("--lang is %q, but must be go or python", lang)
}

// copied returns an example's files under another name.
func copied(example, name string) (map[string][]byte, error) {
	files := map[string][]byte{}
	snake := func(s string) string { return strings.ReplaceAll(s, "-", "_") }
	rename := strings.NewReplacer(example, name, snake(example), snake(name))
	err := fs.WalkDir(examples.Files, example, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := examples.Files.ReadFile(path)
		files[rename.Replace(d.Name())] = []byte(rename.Replace(string(text)))
		return err
	})
	files["README.md"] = []byte(strings.NewReplacer("NAME", name, "MODULE", snake(name)).Replace(readmes[example]))
	return files, err
}

// addModule adds go.mod and go.sum: what the checkout requires, so that nothing
// has to be looked up, and the checkout itself.
func addModule(files map[string][]byte, name, sdk string) error {
	sdk, mod, err := findSDK(sdk)
	if err != nil {
		return err
	}
	for _, t := range mod.Tool {
		if err := mod.DropTool(t.Path); err != nil {
			return err
		}
	}
	if err := mod.AddModuleStmt("example.com/" + name); err != nil {
		return err
	}
	requires := []*modfile.Require{{Mod: module.Version{Path: sdkModule, Version: "v0.0.0"}}}
	for _, r := range mod.Require {
		requires = append(requires, &modfile.Require{Mod: r.Mod, Indirect: true})
	}
	mod.SetRequireSeparateIndirect(requires)
	if err := mod.AddReplace(sdkModule, "", sdk, ""); err != nil {
		return err
	}
	mod.Cleanup()
	if files["go.mod"], err = mod.Format(); err != nil {
		return err
	}
	files["go.sum"], err = os.ReadFile(filepath.Join(sdk, "go.sum"))
	return err
}

// findSDK finds the checkout and reads its go.mod.
func findSDK(given string) (string, *modfile.File, error) {
	if given != "" {
		return sdkAt(given)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	for _, dir := range []string{here, filepath.Dir(self)} {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if path, mod, err := sdkAt(dir); err == nil {
				return path, mod, nil
			}
		}
	}
	return "", nil, errors.New("a Go strategy is built against a checkout of gatewayd, and none is found from here\nhint: git clone it, and add --sdk DIR")
}

func sdkAt(dir string) (string, *modfile.File, error) {
	wrong := func(err error) (string, *modfile.File, error) {
		return "", nil, fmt.Errorf("--sdk %s is no checkout of gatewayd: %w\nhint: give the folder that holds its go.mod", dir, err)
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return wrong(err)
	}
	text, err := os.ReadFile(filepath.Join(path, "go.mod"))
	if err != nil {
		return wrong(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return wrong(err)
	}
	if mod.Module == nil || mod.Module.Mod.Path != sdkModule {
		return wrong(errors.New("its go.mod is of another module"))
	}
	return path, mod, nil
}

// writeProject makes the folder; scripts can be executed.
func writeProject(dir string, files map[string][]byte) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(text, []byte("#!")) {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, mode); err != nil {
			return err
		}
	}
	return nil
}
