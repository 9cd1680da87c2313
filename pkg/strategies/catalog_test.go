package strategies

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatewayd/pkg/router"
)

func TestFind(t *testing.T) {
	for _, d := range Catalog() {
		found, err := Find(d.Name)
		if err != nil || found.Name != d.Name {
			t.Errorf("Find(%q) = %q, %v", d.Name, found.Name, err)
		}
	}
	const want = `no strategy is called "fastest": there are cacheroute, carbon, chwbl, dualmap, dynamo, joule, latency, least-busy, lmetric, p2c, preble, prefix, round-robin, sticky, weighted`
	if _, err := Find("fastest"); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestDefinitionsAreComplete(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	last := ""
	for _, d := range Catalog() {
		if d.Name <= last {
			t.Errorf("%q comes after %q: the catalog is ordered by name", d.Name, last)
		}
		last = d.Name
		if !kebab.MatchString(d.Name) || d.Version == "" || d.Summary == "" || strings.Contains(d.Summary, "\n") {
			t.Errorf("%q: name, version %q and summary %q must be kebab-case, given and one line", d.Name, d.Version, d.Summary)
		}
		for _, o := range d.Options {
			if o.Help == "" || o.Default == "" {
				t.Errorf("%s: option %q has no help or no default", d.Name, o.Name)
			}
			if len(o.Values) > 0 && !slices.Contains(o.Values, o.Default) {
				t.Errorf("%s: default %q of option %q is not one of %v", d.Name, o.Default, o.Name, o.Values)
			}
		}
	}
}

// TestDefaultsAreValid gives each strategy its defaults in words, which must
// make the same instance as none, and each allowed word of each choice.
func TestDefaultsAreValid(t *testing.T) {
	for _, d := range Catalog() {
		all := router.Options{}
		for _, o := range d.Options {
			all[o.Name] = o.Default
			for _, v := range o.Values {
				if _, err := d.New(router.Options{o.Name: v}, 1); err != nil {
					t.Errorf("%s: %s=%s: %v", d.Name, o.Name, v, err)
				}
			}
			if len(o.Values) == 0 {
				if _, err := d.New(router.Options{o.Name: "nonsense"}, 1); err == nil || !strings.Contains(err.Error(), o.Name) {
					t.Errorf("%s: %s=nonsense: error %v does not name the option", d.Name, o.Name, err)
				}
			}
		}
		instance, err := d.New(all, 1)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		info := instance.Info()
		if info.Name != d.Name || info.Version != d.Version {
			t.Errorf("%s %s calls itself %s %s", d.Name, d.Version, info.Name, info.Version)
		}
		if _, plans := instance.(router.Planner); plans != info.Plans {
			t.Errorf("%s: it plans: %v, its info says %v", d.Name, plans, info.Plans)
		}
		if _, routes := instance.(router.Strategy); routes != info.Routes {
			t.Errorf("%s: it routes: %v, its info says %v", d.Name, routes, info.Routes)
		}
	}
}

// TestReadmes holds each folder's README to the parameters of its strategies.
func TestReadmes(t *testing.T) {
	folders := map[string]string{
		"round-robin": "roundrobin", "least-busy": "leastload", "p2c": "leastload", "latency": "leastload",
		"joule": "energy", "carbon": "energy",
	}
	for _, d := range Catalog() {
		folder := folders[d.Name]
		if folder == "" {
			folder = d.Name
		}
		text, err := os.ReadFile(filepath.Join(folder, "README.md"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(text), "`"+d.Name+"`") {
			t.Errorf("%s/README.md does not mention `%s`", folder, d.Name)
		}
		for _, o := range d.Options {
			row := regexp.MustCompile("(?m)^\\| `" + o.Name + "` \\| `?" + regexp.QuoteMeta(o.Default) + "`? ")
			if !row.Match(text) && !(o.Name == "mode" && folder == "energy") {
				t.Errorf("%s/README.md has no row for parameter `%s` with its default %s", folder, o.Name, o.Default)
			}
		}
	}
}
