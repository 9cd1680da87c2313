package survey

import (
	"context"
	"fmt"
	"math"

	"gatewayd/benchlab/engine"
)

// workloads are those of a survey, in the order of the table.
func workloads(o Options) []workload {
	part, rows, size := 1, 0, whaleSize
	if o.Quick {
		part = 20
		rows, size = len(o.Chat.Requests)/part, whaleSize/part
	}
	owners := Owners{Arrivals: 40_000 / part}.withDefaults()
	all := []workload{{
		name: "owners", columns: []string{"hit", "imbalance"}, best: []int{+1, -1},
		about: fmt.Sprintf("%d owners of Zipf %g, %d arrivals, %d workers with room for %d prefixes each; no time",
			owners.Owners, owners.Exponent, owners.Arrivals, owners.Workers, owners.Slots),
		run: func(ctx context.Context, v variant, seed uint64) ([]float64, error) {
			o := owners
			o.Signal = v.signal
			hit, imbalance, err := o.Run(ctx, v.chain, seed)
			return []float64{hit, imbalance}, err
		},
	}}
	if o.Agents != nil {
		for _, active := range []float64{24, 40} {
			w := agents(o.Agents, active)
			w.name = fmt.Sprintf("agents %g", active)
			w.about = fmt.Sprintf("recorded sessions of coding agents, about %g active, 8 workers with room for 7,000 blocks; no time; imbalance of the blocks computed", active)
			all = append(all, w)
		}
	}
	c := chat(o.Chat, rows)
	c.name, c.about = "chat", fmt.Sprintf("recorded chat traffic at %g times its rate, %d workers of %s, simulated", chatScale, chatWorkers, chatProfile)
	w := whales(size)
	w.name, w.about = "whales", fmt.Sprintf("128 hot keys and one with 8 %% of the requests, %g requests per second, %d workers as slow as the published ones, simulated", whaleRate, whaleWorkers)
	return append(all, c, w)
}

// add adds a run.
func (r *Row) add(load int, values []float64) {
	for k, v := range values {
		c := &r.Cells[load][k]
		c.Runs = append(c.Runs, figure(v))
		mean := 0.0
		for _, x := range c.Runs {
			mean += x.Or(math.NaN()) / float64(len(c.Runs))
		}
		c.Mean = figure(mean)
	}
}

// compare notes what changes against a row.
func (r *Row) compare(first *Row) {
	for i, cells := range r.Cells {
		r.Change = append(r.Change, make([]engine.Figure, len(cells)))
		for k := range cells {
			r.Change[i][k] = figure(cells[k].Mean.Or(math.NaN()) - first.Cells[i][k].Mean.Or(math.NaN()))
		}
	}
}

func figure(v float64) engine.Figure {
	if math.IsNaN(v) {
		return engine.Figure{}
	}
	return engine.Known(v)
}
