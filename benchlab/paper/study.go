package paper

import (
	"context"
	"fmt"
	"strings"

	"gatewayd/benchlab/experiment"
	"gatewayd/benchlab/paper/workload"
)

// Options say how much is run.
type Options struct {
	Seed     uint64 // the first
	Seeds    int    // at least 1
	Requests int    // of one run, at least 100
	Keys     int    // of the population
	Quick    bool   // fewer active sets
	Fitted   bool   // the 8B profile as it is, instead of as slow as published
	Parallel int    // runs at a time, which changes no result
	Progress Progress
	Tables   []string // numbers of those wanted; nil: all
}

// Progress learns how far a study is. Its methods are called by several
// goroutines.
type Progress interface {
	Expect(requests int)           // that more requests will be simulated
	Part() (ended func(total int)) // of one run, which says how many have ended so far
}

// Defaults of Options.
const (
	DefaultSeeds = 3
	// DefaultRequests is 200 a destination. The length of the published runs is not
	// known, and it matters: caches are empty at first, and a policy that scatters a
	// key over the fleet warms it everywhere in the end.
	DefaultRequests = 6000
)

type study struct {
	Options
	populations [][]workload.Key // by seed
}

// maker makes one table.
type maker struct {
	number string
	make   func(*study, context.Context) (*Table, error)
	climbs int // of one seed
	steps  int // of the ladder
}

func (s *study) makers() []maker {
	published := 0
	for _, p := range six() {
		if p.known() {
			published++
		}
	}
	const steps8B, steps70B = 9, 12
	return []maker{
		{"1", (*study).headline, published, steps70B},
		{"3", (*study).activeSets, published * len(s.sizes()), steps8B},
		{"4", (*study).ablation, 4, steps8B},
		{"10", (*study).bursts, 4, steps70B},
		{"12", (*study).drift, 0, 0},
		{"14", (*study).fleets, 6, steps8B},
	}
}

// Numbers lists the tables that there are.
func Numbers() (all []string) {
	for _, m := range new(study).makers() {
		all = append(all, m.number)
	}
	return all
}

// Study makes the tables, in the order of their numbers.
func Study(ctx context.Context, o Options) ([]*Table, error) {
	if o.Seeds < 1 || o.Requests < 100 || o.Keys < 1 {
		return nil, fmt.Errorf("paper: %d seeds, %d requests and %d keys, want at least 1, 100 and 1", o.Seeds, o.Requests, o.Keys)
	}
	s := &study{Options: o}
	for i := range o.Seeds {
		s.populations = append(s.populations, workload.Population(o.Keys, o.Seed+uint64(i)))
	}
	var chosen []maker
	for _, m := range s.makers() {
		if wanted(o.Tables, m.number) {
			chosen = append(chosen, m)
			s.expect(m.climbs * m.steps * o.Seeds)
		}
	}
	var out []*Table
	for _, m := range chosen {
		t, err := m.make(s, ctx)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", m.number, err)
		}
		out = append(out, t)
	}
	return out, nil
}

func wanted(numbers []string, number string) bool {
	if numbers == nil {
		return true
	}
	for _, n := range numbers {
		if strings.TrimSpace(n) == number {
			return true
		}
	}
	return false
}

// expect tells that so many more runs will be made.
func (s *study) expect(runs int) {
	if s.Progress != nil {
		s.Progress.Expect(runs * s.Requests)
	}
}

// seed is that of number i.
func (s *study) seed(i int) uint64 { return s.Seed + uint64(i) }

// fill runs every row with every seed and fills the table's cells with what run
// returns, a value for each column; NaN is unknown.
func (s *study) fill(ctx context.Context, t *Table, run func(ctx context.Context, row, seed int) ([]float64, error)) error {
	grid := experiment.Grid{Contenders: len(t.Rows), Seeds: s.Seeds, Parallel: s.Parallel}
	values := make([][][]float64, len(t.Rows)) // by row, column and seed
	for r := range values {
		values[r] = make([][]float64, len(t.Columns))
	}
	err := experiment.Run(ctx, grid, func(ctx context.Context, c experiment.Cell) ([]float64, error) {
		return run(ctx, c.Contender, c.Seed)
	}, func(c experiment.Cell, row []float64) error {
		for k, v := range row {
			values[c.Contender][k] = append(values[c.Contender][k], v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for r := range t.Rows {
		for k := range t.Columns {
			t.Rows[r].Cells[k].Ours = estimate(values[r][k])
		}
	}
	return nil
}

// policies makes the rows of a table, with the published figures by policy, and
// leaves out those that the catalog has no strategy for.
func (t *Table) policies(all []policy, published map[string][]Published) (kept []policy) {
	for _, p := range all {
		if !p.known() {
			t.Missing = append(t.Missing, p.name)
			continue
		}
		kept = append(kept, p)
		t.add(p.name, p.chain, published[p.name])
	}
	return kept
}

func (t *Table) add(name, chain string, published []Published) {
	r := Row{Name: name, Chain: chain, Cells: make([]Cell, len(t.Columns))}
	for k := range published {
		r.Cells[k].Published = &published[k]
	}
	t.Rows = append(t.Rows, r)
}
