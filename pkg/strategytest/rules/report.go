package rules

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// maxFindings is how many findings of one rule a report shows.
const maxFindings = 3

// Result is what one rule says of a strategy.
type Result struct {
	Rule, Says string
	// Findings say how the rule is broken; none means that it is kept.
	Findings []string
	// Skipped says why the rule was not checked, "" if it was.
	Skipped string
	// Note is what else there is to say.
	Note string
}

// Timing is how long calls took, measured by the caller.
type Timing struct {
	Calls              int
	Median, P99, Worst time.Duration
}

// Report is what all rules say of a strategy.
type Report struct {
	Strategy, Version string
	Results           []Result
	Routes, Plans     Timing
}

// Broken returns the names of the rules that are broken.
func (r Report) Broken() (names []string) {
	for _, result := range r.Results {
		if len(result.Findings) > 0 {
			names = append(names, result.Rule)
		}
	}
	return names
}

// Write writes the report as text: a line per rule, then its findings.
func (r Report) Write(to io.Writer) error {
	var w strings.Builder
	fmt.Fprintf(&w, "%s %s\n", r.Strategy, r.Version)
	for _, result := range r.Results {
		state, more := "ok", result.Note
		switch {
		case len(result.Findings) > 0:
			state, more = "BROKEN", result.Says
		case result.Skipped != "":
			state, more = "skipped", result.Skipped
		}
		fmt.Fprintln(&w, strings.TrimRight(fmt.Sprintf("  %-13s  %-7s  %s", result.Rule, state, more), " "))
		for _, f := range result.Shown() {
			fmt.Fprintf(&w, "    %s\n", strings.ReplaceAll(f, "\n", "\n      "))
		}
	}
	for _, t := range []struct {
		of string
		Timing
	}{{"route", r.Routes}, {"plan", r.Plans}} {
		if t.Calls > 0 {
			fmt.Fprintf(&w, "  %d calls of %s: median %v, p99 %v, worst %v\n", t.Calls, t.of, t.Median, t.P99, t.Worst)
		}
	}
	_, err := io.WriteString(to, w.String())
	return err
}

// Shown returns the first findings, and how many more there are.
func (r Result) Shown() []string {
	if n := len(r.Findings); n > maxFindings {
		return append(slices.Clone(r.Findings[:maxFindings]), fmt.Sprintf("and %d more", n-maxFindings))
	}
	return r.Findings
}

func timing(answers []answer, plans bool) Timing {
	var took []time.Duration
	for _, a := range answers {
		if (a.planned != nil) == plans {
			took = append(took, a.took.Round(100*time.Nanosecond))
		}
	}
	if len(took) == 0 {
		return Timing{}
	}
	slices.Sort(took)
	n := len(took)
	return Timing{Calls: n, Median: took[n/2], P99: took[min(n-1, n*99/100)], Worst: took[n-1]}
}
