package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestPools builds pools from workers' model lists: one worker on a line.
func TestPools(t *testing.T) {
	datadriven.Walk(t, "testdata/pools", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			var records []record
			for line := range strings.Lines(d.Input) {
				id, list, _ := strings.Cut(strings.TrimSpace(line), " ")
				var given []string
				if text, ok := strings.CutPrefix(list, "models="); ok {
					text, list, _ = strings.Cut(text, " ")
					given = strings.Split(text, ",")
				}
				l := staticListing(given)
				if list != "" {
					read, err := parseListing([]byte(list), given, nil)
					if err != nil {
						fmt.Fprintf(&out, "%s: %v\n", id, err)
						continue
					}
					l = read
				}
				r := record{listing: l}
				r.member.ID, r.member.Incarnation = id, 1
				records = append(records, r)
			}
			draw(&out, build(1, records))
			return out.String()
		})
	})
}

// draw writes a snapshot as text.
func draw(out *strings.Builder, s *Snapshot) {
	for _, pool := range s.Names() {
		fmt.Fprintf(out, "pool %s:", pool)
		for _, m := range s.Pools()[pool] {
			fmt.Fprintf(out, " %s%v", m.ID, m.Adapters)
		}
		fmt.Fprintln(out)
	}
	for _, adapter := range slices.Sorted(maps.Keys(s.adapters)) {
		pool, name, ok := s.Lookup(adapter)
		fmt.Fprintf(out, "%s is adapter %q of %s, %v\n", adapter, name, pool, ok)
	}
	for _, m := range s.Models() {
		fmt.Fprintf(out, "%s %s\n", m.ID, m.JSON)
		if !json.Valid(m.JSON) {
			fmt.Fprintln(out, "not JSON")
		}
	}
}

func TestLookupOfNothing(t *testing.T) {
	s := build(1, nil)
	if pool, adapter, ok := s.Lookup("m"); ok || pool != "" || adapter != "" {
		t.Errorf("%q, %q", pool, adapter)
	}
}

func TestTooManyModels(t *testing.T) {
	entry := `{"id":"m"},`
	list := `{"data":[` + strings.TrimSuffix(strings.Repeat(entry, maxModels+1), ",") + `]}`
	if _, err := parseListing([]byte(list), nil, nil); err == nil {
		t.Error("a list of any length is taken")
	}
}
