package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gatewayd/benchlab/report"
)

// judge is the figure that decides which contender is better: the time to first
// token is what routing moves most, and its mean is known best.
const judge = "ttft.mean"

const judgeName = "mean time to first token"

// summary says which contender is better, by how much and how sure.
func (v *view) summary() []string {
	k := v.column(judge)
	var out []string
	switch {
	case len(v.Contenders) == 0 || k == nil:
		out = []string{"There is nothing to compare."}
	case !v.compares():
		out = []string{v.alone(k)}
	default:
		out = v.verdict(k)
	}
	if v.Capacity != nil {
		out = append(out, bears(v.Capacity)...)
	}
	return out
}

// alone speaks of a contender that nothing is compared with.
func (v *view) alone(k *report.Column) string {
	c := &v.Contenders[0]
	within := v.column("within_slo")
	text := fmt.Sprintf("%s has a %s of %s", c.Name, judgeName, withUnit(k, c.Figures[judge].Mean))
	if within != nil {
		text += fmt.Sprintf(" and serves %s of the requests within the SLO", withUnit(within, c.Figures[within.Name].Mean))
	}
	return text + "; it was compared with nothing."
}

// verdict speaks of the best contender, then of the others.
func (v *view) verdict(k *report.Column) []string {
	better := v.standingAt(report.Better)
	slices.SortStableFunc(better, func(a, b int) int {
		return cmp.Compare(v.Contenders[a].Figures[judge].Mean.Or(0), v.Contenders[b].Figures[judge].Mean.Or(0))
	})
	failing := func(i int) bool { return v.difference(i, "failed").Verdict == report.Worse }
	sound := slices.DeleteFunc(slices.Clone(better), failing)
	if len(sound) == 0 {
		out := append([]string{v.none(k)}, v.rest(k, "Better", better)...)
		for _, i := range v.standingAt(report.Indistinguishable) {
			if text := v.elsewhere(i); text != "" {
				out = append(out, text)
			}
		}
		return out
	}
	best := sound[0]
	if i := slices.IndexFunc(sound, v.soundly); i >= 0 {
		best = sound[i]
	}
	c, d := &v.Contenders[best], v.difference(best, judge)
	sure := fmt.Sprintf("With %s confidence the true difference is between %s and %s.", percent(v.Statistics.Confidence), signed(k, d.Low)+space+k.Unit, signed(k, d.High)+space+k.Unit)
	return append([]string{v.headline(k, best), sure + v.besides(c.Name, best)}, v.rest(k, "Also better", slices.DeleteFunc(better, func(i int) bool { return i == best }))...)
}

// soundly tells whether contender i is not surely worse in goodput.
func (v *view) soundly(i int) bool { return v.difference(i, "goodput").Verdict != report.Worse }

// headline says that contender i is better, or that it only answers sooner.
func (v *view) headline(k *report.Column, i int) string {
	c, base := &v.Contenders[i], v.Baseline()
	is := "is better than %s"
	if !v.soundly(i) {
		is = "answers sooner than %s, but serves fewer requests within the SLO"
	}
	return fmt.Sprintf("%s "+is+": its %s is %s, %s against %s.", c.Name, base.Name, judgeName,
		v.lowerBy(k, v.difference(i, judge).Mean.Or(0)), withUnit(k, c.Figures[judge].Mean), withUnit(k, base.Figures[judge].Mean))
}

// lowerBy writes a difference of the judge, which is negative, as a part of the
// baseline's figure.
func (v *view) lowerBy(k *report.Column, d float64) string {
	base := v.Baseline().Figures[judge].Mean.Or(0)
	if base <= 0 {
		return fmt.Sprintf("%s %s lower", figures3(-d*k.Scale), k.Unit)
	}
	return roughly(-d/base) + " lower"
}

// none says that nobody is better than the baseline, and what would have shown.
func (v *view) none(k *report.Column) string {
	text := fmt.Sprintf("No contender is surely better than %s, whose %s is %s.", v.Baseline().Name, judgeName, withUnit(k, v.Baseline().Figures[judge].Mean))
	if least, known := v.detectable(judge).Value(); known {
		text += fmt.Sprintf(" A difference of %s %s would have been seen with a probability of %s.", figures3(least*k.Scale), k.Unit, percent(v.Statistics.Power))
	}
	return text
}

// besides says how contender i does in the other main figures.
func (v *view) besides(name string, i int) string {
	better, worse, same := v.elsewhereBy(i)
	text := ""
	if len(better) > 0 {
		text += " " + name + " is also better in " + listed(better) + "."
	}
	if len(worse) > 0 {
		text += " It is worse in " + listed(worse) + "."
	}
	if len(same) > 0 {
		text += " It is not distinguishable in " + listed(same) + "."
	}
	return text
}

// elsewhere says in which other main figures contender i surely differs; "" if
// in none.
func (v *view) elsewhere(i int) string {
	better, worse, _ := v.elsewhereBy(i)
	var parts []string
	if len(better) > 0 {
		parts = append(parts, "better in "+listed(better))
	}
	if len(worse) > 0 {
		parts = append(parts, "worse in "+listed(worse))
	}
	if len(parts) == 0 {
		return ""
	}
	return v.Contenders[i].Name + " is " + strings.Join(parts, "; it is ") + "."
}

// elsewhereBy sorts the other main figures by how contender i stands in them.
func (v *view) elsewhereBy(i int) (better, worse, same []string) {
	for _, k := range v.columns("ttft.p99", "tpot.mean", "goodput", "failed", "kv_hit", "imbalance.tokens", "energy", "carbon") {
		d := v.difference(i, k.Name)
		label := k.Label
		if k.Name == "failed" {
			label = "failed requests"
		}
		by := v.relative(k, d.Mean)
		if by == "" {
			by = " (" + signed(k, d.Mean) + space + unitOfDifference(k) + ")"
		}
		switch d.Verdict {
		case report.Better:
			better = append(better, label+by)
		case report.Worse:
			worse = append(worse, label+by)
		case report.Indistinguishable:
			same = append(same, label)
		}
	}
	return better, worse, same
}

// rest says how the others stand; better are those of them that are better, and
// how the sentence about them begins.
func (v *view) rest(k *report.Column, begin string, better []int) []string {
	name := func(i int) string {
		d := v.difference(i, judge)
		text := v.Contenders[i].Name + v.relative(k, d.Mean)
		if v.difference(i, "failed").Verdict == report.Worse {
			text += ", which fails more requests"
		}
		return text
	}
	var sentences []string
	for _, group := range []struct {
		begin string
		all   []int
	}{
		{begin + " in " + judgeName + ": ", better},
		{"Not distinguishable from " + v.Baseline().Name + ": ", v.standingAt(report.Indistinguishable)},
		{"Worse: ", v.standingAt(report.Worse)},
		{"Unknown, for want of seeds or samples: ", v.standingAt(report.Unknown)},
	} {
		var names []string
		for _, i := range group.all {
			names = append(names, name(i))
		}
		if len(names) > 0 {
			sentences = append(sentences, group.begin+listed(names)+".")
		}
	}
	if len(better) > 0 && begin != "Better" {
		sentences = append(sentences, "Which of the better ones is best was not tested: make one of them the baseline to know.")
	}
	if len(sentences) == 0 {
		return nil
	}
	return []string{strings.Join(sentences, " ")}
}

// standingAt returns the contenders with a verdict on the judge.
func (v *view) standingAt(s report.Standing) []int {
	var out []int
	for _, i := range v.others() {
		if v.difference(i, judge).Verdict == s {
			out = append(out, i)
		}
	}
	return out
}

// cautions is what a reader should know before believing it.
func (v *view) cautions() []string {
	out := slices.Clone(v.Warnings)
	for i := range v.Thresholds {
		if t := &v.Thresholds[i]; t.Crossed {
			out = append(out, fmt.Sprintf("Threshold %s is crossed by %s: %s.", t.Text, t.Contender, withUnit(v.columnOr(t.Figure), t.Value)))
		}
	}
	return out
}

// listed writes a list in a sentence.
func listed(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}
