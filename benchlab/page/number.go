package page

import (
	"math"
	"strconv"
	"strings"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
)

const unknown = "-"

// space stands between a number and its unit, which stay on one line.
const space = "\u00a0"

// decimal writes v with a number of decimals, thousands apart, and a minus sign
// that is as wide as a plus.
func decimal(v float64, decimals int) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return unknown
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', min(decimals, 9), 64)
	whole, rest, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	if v < 0 && strings.Trim(text, "0.") != "" {
		return "−" + whole
	}
	return whole
}

// figures3 writes v with three figures.
func figures3(v float64) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return decimal(0, 0)
	}
	return decimal(v, max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))))
}

// in writes a figure in the unit of its column, without that unit.
func in(k *report.Column, f engine.Figure) string {
	v, known := f.Value()
	if !known {
		return unknown
	}
	return decimal(v*k.Scale, k.Decimals)
}

// withUnit writes a figure with its unit.
func withUnit(k *report.Column, f engine.Figure) string {
	if _, known := f.Value(); !known || k.Unit == "" {
		return in(k, f)
	}
	return in(k, f) + space + k.Unit
}

// signed writes a difference in the unit of its column; shares differ by points.
func signed(k *report.Column, f engine.Figure) string {
	text := in(k, f)
	if v, known := f.Value(); known && v > 0 && strings.Trim(text, "0.") != "" {
		return "+" + text
	}
	return text
}

func unitOfDifference(k *report.Column) string {
	if k.Unit == "%" {
		return "points"
	}
	return k.Unit
}

// span writes an interval; "" if it is unknown.
func span(low, high string) string {
	if low == unknown || high == unknown {
		return ""
	}
	return low + " to " + high
}

// scaled returns the figure in the unit of its column, rounded for a chart.
func scaled(k *report.Column, f engine.Figure) engine.Figure {
	v, known := f.Value()
	if !known {
		return f
	}
	return engine.Known(rounded(v * k.Scale))
}

// rounded keeps five figures, which is more than a chart can show.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	if err != nil || math.IsInf(r, 0) || math.IsNaN(r) {
		return 0
	}
	return r
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return decimal(float64(n), 0) + " " + thing + "s"
}

// percent writes a share with three figures, or fewer that say the same.
func percent(v float64) string {
	text := figures3(100 * v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + space + "%"
}

// roughly writes a share without figures that do not matter.
func roughly(v float64) string {
	decimals := 1
	if math.Abs(v) >= 0.1 {
		decimals = 0
	}
	return decimal(100*v, decimals) + space + "%"
}

// tenths rounds to a decimal.
func tenths(v float64) float64 { return math.Round(v*10) / 10 }
