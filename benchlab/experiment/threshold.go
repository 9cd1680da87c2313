package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewayd/benchlab/report"
)

// Threshold is a figure that contenders must keep.
type Threshold struct {
	Text      string
	Contender string // empty: all of them
	Figure    string // name of a report.Column
	Op        string // < <= > >=
	Limit     float64
}

// ParseThreshold reads "[CONTENDER ]FIGURE OP LIMIT", as in "ttft.p99<800ms",
// "sticky kv_hit>0.3" or "failed<=1%". A limit is a plain number in seconds,
// shares or counts, a duration, or a percentage.
func ParseThreshold(text string) (Threshold, error) {
	bad := func(format string, args ...any) (Threshold, error) {
		return Threshold{}, fmt.Errorf("threshold %q: %s; write one like 'ttft.p99<800ms' or 'sticky kv_hit>0.3'", text, fmt.Sprintf(format, args...))
	}
	at := strings.LastIndexAny(text, "<>")
	if at < 0 {
		return bad("there is no < <= > or >=")
	}
	t := Threshold{Text: text, Op: text[at : at+1]}
	limit := text[at+1:]
	if rest, ok := strings.CutPrefix(limit, "="); ok {
		t.Op, limit = t.Op+"=", rest
	}
	left := strings.TrimSpace(text[:at])
	cut := strings.LastIndexByte(left, ' ')
	t.Contender, t.Figure = strings.TrimSpace(left[:cut+1]), left[cut+1:]
	columns := report.Columns()
	k := slices.IndexFunc(columns, func(c report.Column) bool { return c.Name == t.Figure })
	if k < 0 {
		return bad("there is no figure %q, only %s", t.Figure, strings.Join(names(columns), ", "))
	}
	var err error
	if t.Limit, err = parseLimit(strings.TrimSpace(limit), &columns[k]); err != nil {
		return bad("%v", err)
	}
	return t, nil
}

func names(columns []report.Column) []string {
	var out []string
	for _, c := range columns {
		out = append(out, c.Name)
	}
	return out
}

func parseLimit(text string, c *report.Column) (float64, error) {
	if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0 && v <= maxLimit {
		return v, nil
	}
	if part, ok := strings.CutSuffix(text, "%"); ok && c.Unit == "%" {
		if v, err := strconv.ParseFloat(strings.TrimSpace(part), 64); err == nil && v >= 0 && v <= maxLimit {
			return v / 100, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 && (c.Unit == "s" || c.Unit == "ms") {
		return d.Seconds(), nil
	}
	switch c.Unit {
	case "s", "ms":
		return 0, fmt.Errorf("%q is no limit for %s: give seconds or a duration, as 800ms", text, c.Name)
	case "%":
		return 0, fmt.Errorf("%q is no limit for %s: give a share or a percentage, as 0.3 or 30%%", text, c.Name)
	default:
		return 0, fmt.Errorf("%q is no limit for %s: give a number that is not negative", text, c.Name)
	}
}

const maxLimit = 1e15

// Judge holds the thresholds against a comparison and adds what became of them.
// It fails if a threshold names a contender that there is not.
func Judge(c *report.Comparison, thresholds []Threshold) error {
	for _, t := range thresholds {
		found := false
		for i := range c.Contenders {
			k := &c.Contenders[i]
			if t.Contender != "" && t.Contender != k.Name {
				continue
			}
			found = true
			mean := k.Figures[t.Figure].Mean
			v, known := mean.Value()
			c.Thresholds = append(c.Thresholds, report.Verdict{
				Text: t.Text, Contender: k.Name, Figure: t.Figure, Op: t.Op, Limit: t.Limit,
				Value: mean, Crossed: !known || !t.keeps(v),
			})
		}
		if !found {
			return fmt.Errorf("threshold %q: no contender is called %q", t.Text, t.Contender)
		}
	}
	return nil
}

func (t *Threshold) keeps(v float64) bool {
	switch t.Op {
	case "<":
		return v < t.Limit
	case "<=":
		return v <= t.Limit
	case ">":
		return v > t.Limit
	default:
		return v >= t.Limit
	}
}
