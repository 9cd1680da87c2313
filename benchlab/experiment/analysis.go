package experiment

import (
	"errors"
	"fmt"
	"slices"

	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim/measure"
	"gatewayd/benchlab/stats"
)

// Plan says what is compared.
type Plan struct {
	Setup      report.Setup
	Contenders []string // names
	Baseline   int      // number of the contender that the others are compared with
	Seeds      []uint64 // one or more
	SLO        measure.SLO
	Draws      int // of the bootstrap; 0: as many as are worth their time
}

// Confidence of all intervals, and power of the smallest visible difference.
const (
	Confidence = 0.95
	Power      = 0.8
)

// Analysis collects runs. It is for one goroutine.
type Analysis struct {
	plan     Plan
	clusters stats.Clusters
	of       [][]int32      // by seed, the cluster of each request
	runs     [][]report.Run // by contender and seed
	kept     [][]*reduced
}

// NewAnalysis returns an analysis without runs.
func NewAnalysis(p Plan) (*Analysis, error) {
	switch {
	case len(p.Contenders) == 0 || len(p.Seeds) == 0:
		return nil, errors.New("experiment: contenders and seeds are needed, at least one of each")
	case p.Baseline < 0 || p.Baseline >= len(p.Contenders):
		return nil, fmt.Errorf("experiment: the baseline is contender %d of %d", p.Baseline, len(p.Contenders))
	}
	a := &Analysis{plan: p, of: make([][]int32, len(p.Seeds))}
	for range p.Contenders {
		a.runs = append(a.runs, make([]report.Run, len(p.Seeds)))
		a.kept = append(a.kept, make([]*reduced, len(p.Seeds)))
	}
	return a, nil
}

// Add adds the run of a cell; sessions are those of its requests, 0 for none, and
// the same for all contenders. It keeps nothing of the run itself.
func (a *Analysis) Add(c Cell, sessions []uint64, run *measure.Run) error {
	if a.of[c.Seed] == nil {
		a.of[c.Seed] = a.clusters.Assign(sessions)
	}
	of := a.of[c.Seed]
	if len(run.Requests) != len(of) || len(of) == 0 {
		return fmt.Errorf("experiment: a run of %s has %d requests, want %d, at least one", a.plan.Contenders[c.Contender], len(run.Requests), len(of))
	}
	r := report.NewRun(a.plan.Seeds[c.Seed], run, a.plan.SLO)
	if c.Seed > 0 {
		r.Series = measure.Series{} // one is enough to look at, and they are large
	}
	a.runs[c.Contender][c.Seed] = r
	a.kept[c.Contender][c.Seed] = reduce(run, &r.Figures, a.clusters.Len(), of, a.plan.SLO)
	return nil
}

// Comparison judges the runs. It fails if one is missing. Bounds, thresholds,
// capacity and timing are the caller's to add.
func (a *Analysis) Comparison() (*report.Comparison, error) {
	for i, kept := range a.kept {
		if slices.Contains(kept, nil) {
			return nil, fmt.Errorf("experiment: a run of %s is missing", a.plan.Contenders[i])
		}
	}
	draws := a.draws()
	c := &report.Comparison{
		Setup: a.plan.Setup, Figures: report.Columns(), Bounds: []report.Bound{}, Thresholds: []report.Verdict{},
		Statistics: report.Statistics{
			Confidence: Confidence, Power: Power, Seeds: a.plan.Seeds, Draws: draws,
			Sessions: a.clusters.Len(), EffectiveSessions: a.clusters.Effective(),
			Method: method, Correction: correction,
		},
	}
	for i, name := range a.plan.Contenders {
		c.Contenders = append(c.Contenders, report.Contender{
			Name: name, Baseline: i == a.plan.Baseline, Figures: map[string]report.Estimate{},
			Misses: misses(a.kept[i]), Curves: curves(a.kept[i]), Runs: a.runs[i],
		})
	}
	a.estimate(c, draws)
	c.Warnings = a.warnings(c)
	return c, nil
}

const (
	method = "Student's t around the mean over seeds; variance from resampling whole sessions, the same ones for all seeds and contenders, " +
		"plus what seeds differ by beyond that (doc of benchlab/stats)"
	correction = "differences of all contenders to the baseline hold together, figure by figure (minP of Westfall and Young, at worst Bonferroni)"
)

// draws is how often sessions are resampled.
func (a *Analysis) draws() int {
	if a.plan.Draws > 0 {
		return a.plan.Draws
	}
	runs := len(a.plan.Contenders) * len(a.plan.Seeds)
	return stats.Draws(runs * (a.clusters.Len()*numSums + len(a.of[0])))
}
