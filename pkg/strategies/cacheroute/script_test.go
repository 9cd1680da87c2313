package cacheroute

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"gatewayd/pkg/router"
)

// TestPlacements runs the scripts of testdata/placement. Rates are KEY:RATE or
// KEY:RATE:TOKENS, one or more to a line; a table is
// KEY:WORKER/WORKER joined by plus signs, a list of loads is joined by slashes.
func TestPlacements(t *testing.T) {
	datadriven.Walk(t, "testdata/placement", func(t *testing.T, path string) {
		var last router.Table
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "paper":
				placed, err := paper(t, d)
				last = placed.Table
				return show(placed, err)
			case "planned":
				previous := last
				if d.HasArg("previous") {
					previous = table(t, word(t, d, "previous", ""))
				}
				placed, err := planned(t, d, &previous)
				last = placed.Table
				return show(placed, err)
			case "divide":
				previous := last
				if d.HasArg("previous") {
					previous = table(t, word(t, d, "previous", ""))
				}
				placed, zones, err := divide(t, d, &previous)
				last = placed.Table
				return fmt.Sprintf("%scold %v cached %.3f without %.3f\n", show(placed, err), zones.Cold, zones.Split, zones.Flat)
			case "preferred":
				tab := table(t, word(t, d, "table", ""))
				key, fallback := number(t, d, "key", 0), number(t, d, "fallback", 0)
				return fmt.Sprint(Preferred(&tab, floats(t, word(t, d, "load", "")), uint64(key), int(fallback)), "\n")
			case "homes":
				tab := table(t, word(t, d, "table", ""))
				return fmt.Sprint(Homes(&tab, uint64(number(t, d, "key", 0))), "\n")
			case "imbalance":
				return fmt.Sprintf("%.6g\n", Imbalance(floats(t, word(t, d, "load", ""))))
			case "churn":
				before, after := table(t, word(t, d, "before", "")), table(t, word(t, d, "after", ""))
				moved, churn := Churn(&before, &after)
				return fmt.Sprintf("moved %v churn %.4g\n", moved, churn)
			default:
				t.Fatalf("unknown command %q", d.Cmd)
				return ""
			}
		})
	})
}

func paper(t *testing.T, d *datadriven.TestData) (Placement, error) {
	p := Paper{
		Workers: int(number(t, d, "workers", 1)),
		QCap:    number(t, d, "qcap", 1),
		Slots:   number(t, d, "slots", 1),
		Unkeyed: number(t, d, "unkeyed", 0),
	}
	if word(t, d, "charge", "capped") == "uncapped" {
		p.Charge = Uncapped
	}
	return p.Place(rates(t, d.Input))
}

func planned(t *testing.T, d *datadriven.TestData, previous *router.Table) (Placement, error) {
	return plannedOf(t, d).Place(rates(t, d.Input), previous)
}

func divide(t *testing.T, d *datadriven.TestData, previous *router.Table) (Placement, Zones, error) {
	p := plannedOf(t, d)
	p.HalfLife, p.Everywhere, p.Base = number(t, d, "half-life", 0), number(t, d, "everywhere", DefaultEverywhere), number(t, d, "base", 0)
	for _, w := range floats(t, word(t, d, "cold", "")) {
		p.Cold = append(p.Cold, uint16(w))
	}
	return p.Divide(rates(t, d.Input), previous, previous)
}

func plannedOf(t *testing.T, d *datadriven.TestData) Planned {
	p := Planned{
		QCap:    number(t, d, "qcap", 1),
		Near:    number(t, d, "near", DefaultNear),
		Bound:   number(t, d, "bound", DefaultBound),
		Unkeyed: number(t, d, "unkeyed", 0),
		Tokens:  number(t, d, "tokens", 0),
	}
	for i := range int(number(t, d, "workers", 1)) {
		p.IDs = append(p.IDs, fmt.Sprintf("w%d", i))
	}
	if d.HasArg("budget") {
		p.Budget = floats(t, word(t, d, "budget", ""))
	}
	return p
}

func show(p Placement, err error) string {
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	var b strings.Builder
	for i, key := range p.Table.Keys {
		fmt.Fprintf(&b, "%d -> %v\n", key, p.Table.Of(i))
	}
	fmt.Fprintf(&b, "load %.6g imbalance %.5g admitted %g unadmitted %g", p.Load, p.Imbalance(), p.Admitted, p.Unadmitted)
	if len(p.Saturated) > 0 {
		fmt.Fprintf(&b, " saturated %v", p.Saturated)
	}
	return b.String() + "\n"
}

func word(t *testing.T, d *datadriven.TestData, name, otherwise string) string {
	if d.HasArg(name) {
		d.ScanArgs(t, name, &otherwise)
	}
	return otherwise
}

func number(t *testing.T, d *datadriven.TestData, name string, otherwise float64) float64 {
	if text := word(t, d, name, ""); text != "" {
		return parse(t, text)
	}
	return otherwise
}

func parse(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// floats reads numbers joined by slashes.
func floats(t *testing.T, text string) (values []float64) {
	for f := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' }) {
		values = append(values, parse(t, f))
	}
	return values
}

// rates reads KEY:RATE[:TOKENS]; FROM-TO:RATE stands for a range of keys.
func rates(t *testing.T, text string) (rates []router.KeyRate) {
	for field := range strings.FieldsSeq(text) {
		parts := strings.Split(field, ":")
		from, to, ranged := strings.Cut(parts[0], "-")
		if !ranged {
			to = from
		}
		for key := parse(t, from); key <= parse(t, to); key++ {
			r := router.KeyRate{Key: uint64(key), Rate: parse(t, parts[1])}
			if len(parts) > 2 {
				r.Tokens = parse(t, parts[2])
			}
			rates = append(rates, r)
		}
	}
	return rates
}

// table reads KEY:WORKER/WORKER entries joined by plus signs.
func table(t *testing.T, text string) (tab router.Table) {
	for entry := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '+' }) {
		key, list, _ := strings.Cut(entry, ":")
		var members []uint16
		for _, m := range floats(t, list) {
			members = append(members, uint16(m))
		}
		tab.Append(uint64(parse(t, key)), members...)
	}
	return tab
}
