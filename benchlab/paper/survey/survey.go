package survey

import (
	"context"
	"fmt"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/experiment"
	"gatewayd/benchlab/sim/signal"
	"gatewayd/benchlab/trace"
	"gatewayd/pkg/strategies"
)

// Options say what is run.
type Options struct {
	Chains []string // as benchlab compare takes them; nil: Chains()
	// Signals are the best ones of reuse that strategies have; each chain runs with
	// each; nil: usage.
	Signals  []signal.Signal
	Chat     *trace.Trace // the recorded chat traffic; required
	Agents   *trace.Trace // recorded sessions of agents; nil: none
	Seed     uint64       // the first
	Seeds    int          // at least 1
	Parallel int          // runs at a time, which changes no result
	Quick    bool         // a twentieth of the traffic
	// Progress, if set, is told after each run how many there are and how many have
	// ended.
	Progress func(ended, all int)
}

// Chains lists every strategy of the catalog by itself, and what else a reader
// will look for: plain hashing, CacheRoute as published, and the chain that gateways
// run if nobody says otherwise.
func Chains() (all []string) {
	for _, d := range strategies.Catalog() {
		all = append(all, d.Name)
	}
	return append(all, "chwbl:factor=0", "cacheroute:mode=paper:rest=p2c", "cacheroute+sticky+joule")
}

// Survey is the table.
type Survey struct {
	Format string   `json:"format"`
	Seeds  []uint64 `json:"seeds"`
	Loads  []Load   `json:"workloads"`
	Rows   []Row    `json:"strategies"`
}

// Load is one workload.
type Load struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`
	Columns []string `json:"columns"`
	best    []int    // by column: whether the highest (+1) or the lowest (-1) is best
}

// Row is a chain on all workloads, with a signal of reuse.
type Row struct {
	Chain  string   `json:"chain"`
	Signal string   `json:"signal"`
	Cells  [][]Cell `json:"cells"` // by workload and column
	// Change is each mean less that of the chain with the first signal; nil with
	// the first one.
	Change [][]engine.Figure `json:"change,omitempty"`
}

// Cell is a figure: its mean over seeds, and its values.
type Cell struct {
	Mean engine.Figure   `json:"mean"`
	Runs []engine.Figure `json:"runs"`
}

// variant is what a row runs.
type variant struct {
	chain  string
	signal signal.Signal
}

// workload runs a chain and returns a value for each column.
type workload struct {
	name, about string
	columns     []string
	best        []int
	run         func(ctx context.Context, v variant, seed uint64) ([]float64, error)
}

// Run makes the table.
func Run(ctx context.Context, o Options) (*Survey, error) {
	if o.Seeds < 1 || o.Chat == nil {
		return nil, fmt.Errorf("survey: %d seeds, want at least 1, and chat traffic", o.Seeds)
	}
	if o.Chains == nil {
		o.Chains = Chains()
	}
	if o.Signals == nil {
		o.Signals = []signal.Signal{signal.Usage}
	}
	var rows []variant
	for _, chain := range o.Chains {
		for _, by := range o.Signals {
			rows = append(rows, variant{chain, by})
		}
	}
	loads := workloads(o)
	s := &Survey{Format: "gatewayd.benchlab.survey/2"}
	for i := range o.Seeds {
		s.Seeds = append(s.Seeds, o.Seed+uint64(i))
	}
	for _, w := range loads {
		s.Loads = append(s.Loads, Load{w.name, w.about, w.columns, w.best})
	}
	for _, v := range rows {
		r := Row{Chain: v.chain, Signal: v.signal.String()}
		for _, w := range loads {
			r.Cells = append(r.Cells, make([]Cell, len(w.columns)))
		}
		s.Rows = append(s.Rows, r)
	}
	grid := experiment.Grid{Contenders: len(rows) * len(loads), Seeds: o.Seeds, Parallel: o.Parallel}
	ended, all := 0, grid.Contenders*grid.Seeds
	err := experiment.Run(ctx, grid, func(ctx context.Context, c experiment.Cell) ([]float64, error) {
		v, w := rows[c.Contender/len(loads)], loads[c.Contender%len(loads)]
		values, err := w.run(ctx, v, s.Seeds[c.Seed])
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", v.chain, w.name, err)
		}
		return values, nil
	}, func(c experiment.Cell, values []float64) error {
		s.Rows[c.Contender/len(loads)].add(c.Contender%len(loads), values)
		if ended++; o.Progress != nil {
			o.Progress(ended, all)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range s.Rows {
		if first := i - i%len(o.Signals); i != first {
			s.Rows[i].compare(&s.Rows[first])
		}
	}
	return s, nil
}
