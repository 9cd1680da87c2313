package router

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestLawsAreHeld holds docs/laws.md to the tests: the laws are numbered without
// a gap, each names a test or script that exists, and no test speaks of another.
func TestLawsAreHeld(t *testing.T) {
	page, err := os.ReadFile("../../docs/laws.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, spoken := testFunctions(t)
	laws := regexp.MustCompile(`(?m)^\| (\d+) \|.*$`).FindAllStringSubmatch(string(page), -1)
	if len(laws) == 0 {
		t.Fatal("docs/laws.md holds no law")
	}
	name := regexp.MustCompile("`(\\w+)(?:/(\\w+))?`")
	for i, law := range laws {
		if law[1] != fmt.Sprint(i+1) {
			t.Fatalf("law %s stands where law %d is due", law[1], i+1)
		}
		cells := strings.Split(strings.Trim(law[0], "|"), "|")
		held := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(held) == 0 {
			t.Errorf("law %s names no test", law[1])
		}
		for _, test := range held {
			if !tests[test[1]] {
				t.Errorf("law %s names %s, which is no test of this package", law[1], test[1])
			}
			if test[2] == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join("testdata/scripts", test[2]+".txt")); err != nil {
				t.Errorf("law %s: %v", law[1], err)
			}
		}
	}
	for n, where := range spoken {
		if n < 1 || n > len(laws) {
			t.Errorf("%s speaks of law %d; docs/laws.md has %d", where, n, len(laws))
		}
	}
}

// testFunctions lists the package's tests and the laws that they speak of.
func testFunctions(t *testing.T) (tests map[string]bool, laws map[int]string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	tests, laws = map[string]bool{}, map[int]string{}
	spoken := regexp.MustCompile(`\blaw (\d+)\b`)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				tests[f.Name.Name] = true
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range spoken.FindAllStringSubmatch(string(text), -1) {
			n, _ := strconv.Atoi(m[1])
			laws[n] = path
		}
	}
	return tests, laws
}
