package page

import "gatewayd/benchlab/engine"

// Kind says how a chart is drawn.
type Kind string

// The kinds of chart, and which fields of Chart each of them draws.
const (
	Lines     Kind = "lines"     // Lines and Rules
	Intervals Kind = "intervals" // Intervals and Rules: one row each
	Bars      Kind = "bars"      // Parts, Bars: stacked, one row each
	Heat      Kind = "heat"      // Grids on one scale of colours
)

// Chart is a picture as data. In JSON it is what assets/page.js draws.
type Chart struct {
	Kind  Kind   `json:"kind"`
	Title string `json:"title"`
	Note  string `json:"-"`   // below the title: which way is good, what a mark means
	Alt   string `json:"alt"` // what it shows, for those who do not see it
	Wide  bool   `json:"-"`   // takes the width of the page
	X     Axis   `json:"x"`
	Y     Axis   `json:"y,omitzero"`
	Z     Axis   `json:"z,omitzero"` // of colours

	Lines     []Line     `json:"lines,omitempty"`
	Intervals []Interval `json:"intervals,omitempty"`
	Parts     []string   `json:"parts,omitempty"` // the names of the parts of each bar, in the order they are stacked
	Bars      []Bar      `json:"bars,omitempty"`
	Grids     []Grid     `json:"grids,omitempty"`
	Rules     []Rule     `json:"rules,omitempty"`
}

// Axis is a scale of a chart.
type Axis struct {
	Label   string `json:"label"` // with the unit
	Log     bool   `json:"log,omitempty"`
	Percent bool   `json:"percent,omitempty"` // values are shares; shown times 100
	Zero    bool   `json:"zero,omitempty"`    // 0 is in sight
}

// Line is a curve of a series. X, Y and, with an interval, Low and High have one
// element a point; an unknown Y is a gap.
type Line struct {
	Series int             `json:"series"`
	X      []float64       `json:"x"`
	Y      []engine.Figure `json:"y"`
	Low    []engine.Figure `json:"low,omitempty"`
	High   []engine.Figure `json:"high,omitempty"`
	Dots   bool            `json:"dots,omitempty"` // its points were measured, what lies between was not
}

// Interval is a value of a series with the interval that it is sure to lie in.
type Interval struct {
	Series int           `json:"series"`
	Value  engine.Figure `json:"value"`
	Low    engine.Figure `json:"low"`
	High   engine.Figure `json:"high"`
	Text   string        `json:"text"`             // beside it
	Unsure bool          `json:"unsure,omitempty"` // drawn hollow
}

// Bar is a stack of parts, with marks beside them. Its name is that of the
// series, or Name where it is of none.
type Bar struct {
	Series int       `json:"series"` // -1 for none
	Name   string    `json:"name,omitempty"`
	Parts  []float64 `json:"parts"` // one element for each of the chart's
}

// Grid is a map of values over time, a row for each worker.
type Grid struct {
	Series int       `json:"series"`
	Rows   int       `json:"rows"`
	Each   int       `json:"each"`   // workers in a row, whose mean it shows; the last row may have fewer
	Values []float64 `json:"values"` // row by row, equally long
	Span   float64   `json:"span"`   // of time, in the unit of the x axis
}

// Rule is a line across a chart, such as a limit.
type Rule struct {
	Axis  string  `json:"axis"` // "x" or "y": the scale that At is on
	At    float64 `json:"at"`
	Label string  `json:"label"`
}
