package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"crypto/sha256"
	"encoding/hex"

	"gatewayd/benchlab/trace"
)

const recorded = "../trace/testdata/recorded/"

// TestGolden holds what trace info says about recorded traffic to numbers that
// another program computed from the same files (golden.json).
func TestGolden(t *testing.T) {
	text, err := os.ReadFile(recorded + "golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]map[string]any
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden) < 5 {
		t.Fatalf("golden numbers of %d files", len(golden))
	}
	for file, want := range golden {
		t.Run(file, func(t *testing.T) {
			if testing.Short() && want["sessions"] != nil && want["subagents"] != nil {
				t.Skip("-short leaves it out: it reads 20 MB of sessions")
			}
			path := recorded + file
			if _, err := os.Stat(path); err != nil {
				path = "../trace/data/" + file
			}
			got := info(t, path)
			compare(t, file, got, want)
			for _, name := range []string{"rows", "input", "output", "infinite_cache"} {
				if got[name] == nil {
					t.Errorf("%s is missing", name)
				}
			}
			if _, ok := got["infinite_cache"].(map[string]any)["token_hit"].(float64); !ok {
				t.Error("infinite_cache.token_hit is missing")
			}
		})
	}
}

// info is what trace info --json says about a file.
func info(t *testing.T, path string) map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	tr, err := trace.Read(io.TeeReader(f, sum), filepath.Base(path), trace.Options{Open: func(name string) (io.ReadCloser, error) {
		return os.Open(recorded + name + ".gz")
	}})
	if err != nil {
		t.Fatal(err)
	}
	made := NewTraceInfo(tr, hex.EncodeToString(sum.Sum(nil)))
	text, err := json.Marshal(&made)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// compare reports each value of want that got does not have.
func compare(t *testing.T, at string, got, want any) {
	t.Helper()
	object, ok := want.(map[string]any)
	if !ok {
		if got != want {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
		return
	}
	has, _ := got.(map[string]any)
	var names []string
	for name := range object {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		compare(t, fmt.Sprint(at, ".", name), has[name], object[name])
	}
}
