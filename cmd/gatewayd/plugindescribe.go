package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"gatewayd/pkg/plugin"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

func pluginDescribe(p process) *cli.Command {
	return &cli.Command{
		Name:        "describe",
		Usage:       "show what an executable serves: options, needs and checksum",
		UsageText:   "gatewayd plugin describe NAME|PATH[:key=value...]\n\nExample:\n   gatewayd plugin describe ./my-strategy",
		Description: "Starts the executable and opens one instance with the options given.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "verbose", Usage: "show all that the process prints, not only warnings and errors"},
			&cli.BoolFlag{Name: "schema", Usage: "print the JSON Schema of the options instead, one document for each strategy"},
			dirFlag(),
		},
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			spec, r, err := pluginOf(c, p)
			if err != nil {
				return err
			}
			return describe(c, p, spec, r)
		},
	}
}

func describe(c *cli.Context, p process, spec plugin.Spec, r ref.Ref) error {
	running, err := launch(c.Context, spec)
	if err != nil {
		return err
	}
	defer running.Close()
	if c.Bool("schema") {
		return schemas(p, running.Describe().Definitions)
	}
	sum, err := plugin.Checksum(spec.Path)
	if err != nil {
		return err
	}
	about := running.Describe()
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "executable\t%s\nsha256\t%s\nprotocol\t%d, features %d\nstarted in\t%v\n",
		spec.Path, sum, about.Protocol, about.FeatureVersion, running.took)
	for _, d := range about.Definitions {
		fmt.Fprintf(w, "\nstrategy\t%s %s\n\t%s\n", d.Name, d.Version, d.Summary)
		for _, o := range d.Options {
			fmt.Fprintf(w, "option\t%s=%s\t%s\n", o.Name, o.Default, help(o))
		}
		instance, err := d.New(r.Options, 1)
		if err != nil {
			return fmt.Errorf("%s with these options: %w", d.Name, err)
		}
		fmt.Fprintf(w, "decides\t%s\n", decides(instance.Info()))
		if n := needs(instance.Info()); n != "" {
			fmt.Fprintf(w, "needs\t%s\n", n)
		}
	}
	return w.Flush()
}

func help(o router.Option) string {
	if len(o.Values) > 0 {
		return o.Help + " (" + strings.Join(o.Values, ", ") + ")"
	}
	return o.Help
}

// decides says how a strategy decides.
func decides(i router.Info) string {
	var how []string
	if i.Plans {
		every := "by plan"
		if i.Interval > 0 {
			every += " every " + i.Interval.String()
		}
		how = append(how, every)
	}
	if i.Routes {
		how = append(how, "by a call for each request that no plan or hold decides")
	}
	return strings.Join(how, ", ")
}

func needs(i router.Info) string {
	var out []string
	for _, n := range []struct {
		what   string
		needed bool
	}{{"the prefix index", i.Cached}, {"block hashes", i.Blocks}, {"rates of keys", i.Rates}, {"events", len(i.Observes) > 0}} {
		if n.needed {
			out = append(out, n.what)
		}
	}
	for _, family := range i.Facts {
		out = append(out, "shared facts "+family)
	}
	return strings.Join(out, ", ")
}

func schemas(p process, definitions []router.Definition) error {
	for _, d := range definitions {
		b, err := plugin.Schema(d)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.stdout, "%s\n", b); err != nil {
			return err
		}
	}
	return nil
}

func pluginList(p process) *cli.Command {
	return &cli.Command{
		Name:        "list",
		Usage:       "list the strategies that are built in and those in the plugin folder",
		UsageText:   "gatewayd plugin list [--dir DIR]\n\nExample:\n   gatewayd plugin list --dir ./plugins",
		Description: "Starts each executable of the folder to ask what it serves. One with the name of a built-in\nstrategy takes its place in gatewayd serve.",
		Flags:       []cli.Flag{dirFlag()}, OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			dir, err := pluginDir(c)
			if err != nil {
				return err
			}
			return list(c, p, dir)
		},
	}
}

func list(c *cli.Context, p process, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && (c.IsSet("dir") || !os.IsNotExist(err)) {
		return usageError{err}
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tFROM\tSUMMARY")
	row := func(d router.Definition, from string) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.Name, d.Version, from, d.Summary)
	}
	for _, d := range strategies.Catalog() {
		row(d, "built in")
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			continue
		}
		spec, err := specOf(ref.Ref{Name: path}, dir, pluginLogger(process{stderr: io.Discard}, false))
		var running started
		if err == nil {
			running, err = launch(c.Context, spec)
		}
		if err != nil {
			line, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Fprintf(w, "%s\t-\t%s\tunusable: %s\n", e.Name(), path, line)
			continue
		}
		for _, d := range running.Describe().Definitions {
			row(d, path)
		}
		running.Close()
	}
	return w.Flush()
}
