package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gatewayd/benchlab/sim/measure"
)

// Lines of text are at most wide; the names of paragraphs stand in a margin.
const (
	wide   = 150
	margin = 11
)

// entry writes a named paragraph, its lines under each other; a long line goes on
// in the next one.
func entry(b *strings.Builder, name string, lines ...string) {
	for _, l := range lines {
		if l == "" {
			continue
		}
		for i, part := range wrap(l, wide-margin) {
			if i > 0 {
				part = "  " + part
			}
			fmt.Fprintf(b, "%s%s\n", pad(name, margin), part)
			name = ""
		}
	}
}

// wrap breaks a line at spaces.
func wrap(line string, width int) []string {
	var out []string
	for utf8.RuneCountInString(line) > width {
		at := strings.LastIndexByte(string([]rune(line)[:width]), ' ')
		if at <= 0 {
			break
		}
		out, line = append(out, line[:at]), line[at+1:]
	}
	return append(out, line)
}

// notes says what the figures mean and how they came about.
func (c *Comparison) notes(b *strings.Builder) {
	var decided, problems []string
	for i := range c.Contenders {
		decided = append(decided, c.Contenders[i].decided())
		problems = append(problems, c.Contenders[i].problems()...)
	}
	entry(b, "decided", decided...)
	entry(b, "problems", problems...)
	entry(b, "warnings", c.Warnings...)
	var verdicts []string
	for i := range c.Thresholds {
		verdicts = append(verdicts, c.Thresholds[i].String())
	}
	entry(b, "thresholds", verdicts...)
	s := &c.Setup
	about := []string{fmt.Sprintf("- unknown; percentiles by nearest rank, p99 only from %d samples on; SLO: TTFT <= %v s and TPOT <= %v ms",
		measure.MinP99, s.TTFT, s.TPOT*1e3)}
	var once []string
	for _, k := range c.Figures {
		about = append(about, k.Label+": "+k.About)
		if !k.Sessions {
			once = append(once, k.Label)
		}
	}
	entry(b, "figures", about...)
	entry(b, "intervals", c.Statistics.Method, c.Statistics.Correction,
		"over seeds alone, because a run has one of each: "+strings.Join(once, ", "))
}

// decided says who placed how many requests, and why, all seeds together.
func (c *Contender) decided() string {
	type reason struct{ strategy, reason string }
	counts := map[reason]int{}
	var order []reason
	all := 0
	for i := range c.Runs {
		for _, d := range c.Runs[i].Decisions {
			r := reason{d.Strategy, d.Reason}
			if counts[r] == 0 {
				order = append(order, r)
			}
			counts[r] += d.Count
			all += d.Count
		}
	}
	var parts []string
	for _, r := range order {
		parts = append(parts, fmt.Sprintf("%s %s %.1f %%", r.strategy, r.reason, 100*float64(counts[r])/float64(all)))
	}
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	return c.Name + ": " + strings.Join(parts, ", ")
}

// problems lists what failed and which plans were not made, all seeds together.
func (c *Contender) problems() []string {
	var lines, kinds []string
	failed, plans, first := map[string]int{}, map[string]int{}, map[string]string{}
	var names []string
	for i := range c.Runs {
		for _, f := range c.Runs[i].Figures.Failures {
			if failed[f.Kind] == 0 {
				kinds = append(kinds, f.Kind)
			}
			failed[f.Kind] += f.Count
		}
		for _, s := range c.Runs[i].Strategies {
			if s.Failed > 0 && plans[s.Name] == 0 {
				names = append(names, s.Name)
				first[s.Name] = s.FirstError
			}
			plans[s.Name] += s.Failed
		}
	}
	for _, k := range kinds {
		lines = append(lines, fmt.Sprintf("%s: %s failed, %s", c.Name, count(failed[k], "request"), k))
	}
	for _, n := range names {
		lines = append(lines, fmt.Sprintf("%s: %s of %s not made, the first because: %s", c.Name, count(plans[n], "plan"), n, first[n]))
	}
	return lines
}

// String says what became of a threshold.
func (v *Verdict) String() string {
	state := "kept"
	if v.Crossed {
		state = "crossed"
	}
	value := "unknown"
	if x, known := v.Value.Value(); known {
		value = fmt.Sprintf("%.6g", x)
	}
	return fmt.Sprintf("%s: %s by %s, which has %s %s", v.Text, state, v.Contender, v.Figure, value)
}
