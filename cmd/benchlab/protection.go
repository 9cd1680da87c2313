package main

import (
	"gatewayd/benchlab/experiment"
	"gatewayd/benchlab/report"
)

// pair is a contender with protected blocks and without.
type pair struct {
	contender int
	analysis  *experiment.Analysis // of two: without and with
}

// pairs are the contenders that protection can change: those with a plan, if it
// is on.
func (s *study) pairs() ([]pair, error) {
	if !s.options.Protect {
		return nil, nil
	}
	var out []pair
	for i := range s.contenders {
		if !s.contenders[i].plans {
			continue
		}
		a, err := experiment.NewAnalysis(experiment.Plan{Contenders: []string{"without", "with"}, Seeds: s.seeds, SLO: s.slo})
		if err != nil {
			return nil, err
		}
		out = append(out, pair{i, a})
	}
	return out, nil
}

// add adds a run if it is one of the pair; without is the cell's number of the
// run without protection.
func (p *pair) add(c experiment.Cell, without int, o *outcome) error {
	switch c.Contender {
	case without:
		return p.analysis.Add(experiment.Cell{Contender: 0, Seed: c.Seed}, o.ready.sessions(), o.Run)
	case p.contender:
		return p.analysis.Add(experiment.Cell{Contender: 1, Seed: c.Seed}, o.ready.sessions(), o.Run)
	}
	return nil
}

// effects are what protection is worth to each contender.
func effects(s *study, pairs []pair) ([]report.Effect, error) {
	out := []report.Effect{}
	for _, p := range pairs {
		c, err := p.analysis.Comparison()
		if err != nil {
			return nil, err
		}
		e := report.Effect{Contender: s.contenders[p.contender].name, Figures: map[string]report.Difference{}}
		for name, f := range c.Contenders[1].Figures {
			e.Figures[name] = *f.Difference
		}
		out = append(out, e)
	}
	return out, nil
}
