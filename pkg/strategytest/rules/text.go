package rules

import (
	"fmt"
	"slices"
	"strings"

	"gatewayd/pkg/router"
)

// says writes an answer with workers by ID, so that answers to differently
// ordered questions can be compared. Figures have as many digits as asked for;
// -1 is all.
func says(a answer, digits int) string {
	switch {
	case a.err != nil:
		return "an error" // whose text names the process
	case a.planned != nil:
		return planText(&a.plan, digits)
	}
	d := a.decision
	var b strings.Builder
	fmt.Fprintf(&b, "verdict %d:", d.Verdict)
	for _, p := range d.Ranking {
		fmt.Fprintf(&b, " %s/%d/%d", a.worker(p.Worker), p.Role, p.Rank)
	}
	fmt.Fprintf(&b, " %s, hold %v, retry after %v", d.Reason, d.Hold, d.RetryAfter)
	for _, w := range d.Writes {
		fmt.Fprintf(&b, ", write %s %d %x for %v", w.Family, w.Key, w.Value, w.TTL)
	}
	return b.String()
}

// choice writes what a decision comes to: its verdict and its first worker.
func choice(a answer) string {
	if a.err != nil || a.planned != nil {
		return says(a, 9)
	}
	if r := a.decision.Ranking; len(r) > 0 {
		return fmt.Sprintf("verdict %d, worker %s", a.decision.Verdict, a.worker(r[0].Worker))
	}
	return fmt.Sprintf("verdict %d", a.decision.Verdict)
}

// worker returns the ID of a worker that was shown.
func (a answer) worker(i int) string {
	if i < 0 || i >= len(a.asked.Workers) {
		return fmt.Sprintf("#%d", i)
	}
	return a.asked.Workers[i].ID
}

func planText(p *router.Plan, digits int) string {
	if err := p.Validate(); err != nil {
		return "invalid plan: " + err.Error()
	}
	var lines []string
	for i, key := range p.Table.Keys {
		lines = append(lines, fmt.Sprintf("key %d: %v", key, ids(p, p.Table.Of(i))))
	}
	for i, load := range p.Expected {
		lines = append(lines, fmt.Sprintf("expected %s: %s", p.Workers[i].ID, figure(load, digits)))
	}
	for i, speed := range p.Speeds {
		lines = append(lines, fmt.Sprintf("speed %s: %s", p.Workers[i].ID, figure(speed, digits)))
	}
	for name, row := range map[string]router.Row{"cost": p.Rest.Cost, "limit": p.Rest.Limit} {
		for i, term := range row {
			for k, w := range term.Weights {
				of := "all"
				if len(term.Weights) > 1 {
					of = p.Workers[k].ID
				}
				lines = append(lines, fmt.Sprintf("%s %d: %v of %s: %s", name, i, term.Feature, of, figure(w, digits)))
			}
		}
	}
	slices.Sort(lines)
	r := p.Rest
	lines = append(lines, fmt.Sprintf("workers %v", ids(p, nil)), fmt.Sprintf("guard %+v", p.Guard), fmt.Sprintf("bind %+v", p.Bind), fmt.Sprintf("trial %+v next %v", p.Trial, p.Next),
		fmt.Sprintf("rest order %d among %v sample %d bound %s first tie %v", r.Order, ids(p, r.Among), r.Sample, figure(r.Bound, digits), r.FirstTie))
	return strings.Join(lines, "\n")
}

// ids returns the IDs of a plan's workers with these indexes, in order; none
// means all.
func ids(p *router.Plan, members []uint16) []string {
	var out []string
	for _, m := range members {
		out = append(out, p.Workers[m].ID)
	}
	if len(members) == 0 {
		for _, w := range p.Workers {
			out = append(out, w.ID)
		}
	}
	slices.Sort(out)
	return out
}

func figure(f float64, digits int) string {
	if digits < 0 {
		return fmt.Sprint(f)
	}
	return fmt.Sprintf("%.*g", digits, f)
}

// differs returns the first line in which two texts differ.
func differs(a, b string) (string, string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i], bs[i]
		}
	}
	return fmt.Sprintf("%d lines", len(as)), fmt.Sprintf("%d lines", len(bs))
}
