package main

import (
	"strings"
	"time"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
)

// setup states what all contenders have in common; arrivals are those of the
// given traffic.
func (s *study) setup(first *prepared) report.Setup {
	t := first.trace
	out := report.Setup{
		Trace: report.Trace{
			Name: t.Name, Origin: t.Origin, SHA256: s.traffic.sha256, Format: t.Format, Rows: len(t.Requests),
			BlockTokens: t.BlockTokens, Scope: t.Scope.String(), Partial: t.Partial.String(), Notes: t.Notes,
		},
		Workers: s.workers, PUE: sim.PUE, Profile: resolved(s.profile), Assumed: s.assumed,
		TTFT: s.slo.TTFT.Seconds(), TPOT: s.slo.TPOT.Seconds(),
		Options: s.conditions(), Programs: s.programs(),
	}
	for i := range t.Requests {
		out.Trace.MeanInput += float64(t.Requests[i].Input) / float64(len(t.Requests))
		out.Trace.MeanOutput += float64(t.Requests[i].Output) / float64(len(t.Requests))
	}
	out.Trace.Span = (t.Requests[len(t.Requests)-1].At - t.Requests[0].At).Seconds()
	for _, z := range sim.Zones() {
		out.Zones = append(out.Zones, report.Zone(z))
	}
	return out
}

// resolved fills in the defaults that an engine would use.
func resolved(p engine.Profile) engine.Profile {
	if e, err := engine.New(p); err == nil {
		return e.Profile()
	}
	return p
}

// parseSLO reads "ttft=2s,tpot=50ms"; a part left out keeps its default.
func parseSLO(text string) (measure.SLO, error) {
	slo := measure.SLO{TTFT: 2 * time.Second, TPOT: 50 * time.Millisecond}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return slo, usage("--slo %q: %q needs a positive duration, as in ttft=2s,tpot=50ms", text, part)
		}
		switch name {
		case "ttft":
			slo.TTFT = d
		case "tpot":
			slo.TPOT = d
		default:
			return slo, usage("--slo %q: there is no %q; give ttft, tpot or both", text, name)
		}
	}
	return slo, nil
}
