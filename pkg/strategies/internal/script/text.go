package script

import (
	"fmt"
	"strings"

	"gatewayd/pkg/router"
)

func info(i router.Info) string {
	var needs []string
	for _, n := range []struct {
		name string
		set  bool
	}{{"routes", i.Routes}, {"plans", i.Plans}, {"cached", i.Cached}, {"blocks", i.Blocks}, {"rates", i.Rates}} {
		if n.set {
			needs = append(needs, n.name)
		}
	}
	if len(i.Observes) > 0 {
		needs = append(needs, "observes")
	}
	if i.Interval > 0 {
		needs = append(needs, "every "+i.Interval.String())
	}
	return fmt.Sprintf("%s %s: %s\n", i.Name, i.Version, strings.Join(needs, ", "))
}

// show writes a plan, one line for each part that says something.
func show(p router.Plan) string {
	var b strings.Builder
	if p.Note != "" {
		fmt.Fprintf(&b, "  note: %s\n", p.Note)
	}
	for i, key := range p.Table.Keys {
		fmt.Fprintf(&b, "  key %d:", key)
		for _, m := range p.Table.Of(i) {
			fmt.Fprintf(&b, " %s", p.Workers[m].ID)
		}
		b.WriteByte('\n')
	}
	if p.Expected != nil {
		fmt.Fprintf(&b, "  expected: %.4g\n", p.Expected)
	}
	if g := p.Guard; g.Factor > 0 {
		fmt.Fprintf(&b, "  guard: %v factor %v slack %v\n", g.Of, g.Factor, g.Slack)
	}
	b.WriteString(rest(p.Rest))
	if p.Bind.TTL > 0 {
		fmt.Fprintf(&b, "  bind: ttl %v keep %v min cached %v\n", p.Bind.TTL, p.Bind.Keep, p.Bind.MinCached)
	}
	return b.String()
}

func rest(r router.Rest) string {
	var b strings.Builder
	switch r.Order {
	case router.Abstain:
		return "  rest: abstain\n"
	case router.ByRotation:
		b.WriteString("  rest: rotate")
	case router.ByRendezvous:
		b.WriteString("  rest: rendezvous")
	case router.ByCost:
		b.WriteString("  rest: cost" + row(r.Cost))
	}
	if r.Sample > 0 {
		fmt.Fprintf(&b, ", of %d", r.Sample)
	}
	if r.FirstTie {
		b.WriteString(", first of equals")
	}
	b.WriteByte('\n')
	if len(r.Limit) > 0 {
		fmt.Fprintf(&b, "  limit:%s <= %.4g\n", row(r.Limit), r.Bound)
	}
	return b.String()
}

func row(r router.Row) string {
	var b strings.Builder
	for _, t := range r {
		fmt.Fprintf(&b, " + %v*%.4g", t.Feature, t.Weights)
	}
	return strings.TrimPrefix(b.String(), " +")
}
