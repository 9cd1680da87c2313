package repo

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected findings in testdata")

// report takes one finding: where it is (a path, or path:line) and what is
// wrong there.
type report func(where, what string)

// rules is every house rule; the name is also that of its file in testdata.
var rules = []struct {
	name  string
	check func(*tree, report)
}{
	{"lattice", lattice},
	{"stale", stale},
	{"comments", comments},
	{"size", size},
	{"words", words},
	{"sleep", sleep},
	{"links", links},
	{"dependencies", dependencies},
}

// TestRules holds the repository to its rules.
func TestRules(t *testing.T) {
	repository, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, finding := range findings(repository, rule.check) {
				t.Error(finding)
			}
		})
	}
}

// TestRulesCatch holds each rule to the findings it must make.
func TestRulesCatch(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			name := filepath.Join("testdata", rule.name+".txtar")
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := &archive.Files[len(archive.Files)-1]
			if want.Name != "want" {
				t.Fatalf("%s: the last file is %q, not want", name, want.Name)
			}
			broken, err := load(unpack(archive.Files[:len(archive.Files)-1]))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(append(findings(broken, rule.check), ""), "\n")
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(want.Data) {
				t.Errorf("findings:\n%s\nwant:\n%s", got, want.Data)
			}
			if got == "" {
				t.Errorf("%s breaks no rule", name)
			}
		})
	}
}

// TestNothingScanned holds that an empty tree is an error and not a success.
func TestNothingScanned(t *testing.T) {
	if _, err := load(fstest.MapFS{"README.md": {Data: []byte("# Nothing\n")}}); err == nil {
		t.Error("a tree without Go files was accepted")
	}
}

func findings(t *tree, check func(*tree, report)) []string {
	var all []string
	check(t, func(where, what string) {
		all = append(all, fmt.Sprintf("%s: %s", where, what))
	})
	slices.Sort(all)
	return slices.Compact(all)
}

func unpack(files []txtar.File) fs.FS {
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return fsys
}
