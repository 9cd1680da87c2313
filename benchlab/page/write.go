package page

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
)

// Write writes the page as one HTML file of some 600 kB that loads nothing. The
// error is the writer's, or that of a number which JSON cannot hold.
func (p *Page) Write(w io.Writer) error {
	t, err := template.New("page.html").ParseFS(assets, "assets/page.html")
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	d := document{Page: p, Looks: looks(p.Series), Style: template.CSS(asset("assets/page.css"))}
	d.Scripts, d.Policy = scripts()
	charts := []Chart{}
	for _, s := range p.Sections {
		v := sectionView{Section: s}
		for _, c := range s.Charts {
			v.Figures = append(v.Figures, figure{c, len(charts)})
			charts = append(charts, c)
		}
		for _, table := range s.Tables {
			v.Tables = append(v.Tables, viewTable(table, d.Looks))
		}
		v.Thirds = len(s.Charts) > 2 && s.Charts[0].Kind == Lines
		d.Sections = append(d.Sections, v)
	}
	// The encoder writes <, > and & as escapes, so that no text ends the script.
	data, err := json.Marshal(picture{d.Looks, charts})
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	d.Data = template.JS(data)
	if err := t.Execute(w, d); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// document is what the template shows.
type document struct {
	Page     *Page
	Looks    []look
	Sections []sectionView
	Policy   string
	Style    template.CSS
	Scripts  []template.JS
	Data     template.JS
}

// picture is what assets/page.js draws.
type picture struct {
	Series []look  `json:"series"`
	Charts []Chart `json:"charts"`
}

type sectionView struct {
	Section
	Figures []figure
	Thirds  bool // they are narrow
	Tables  []tableView
}

type figure struct {
	Chart
	Index int // among all charts of the page
}

type tableView struct {
	Table
	Groups []group
	Marked bool // cells say how they compare with the baseline
	Rows   []rowView
}

// group is a head over several columns.
type group struct {
	Name string
	Span int
}

type rowView struct {
	Look  *look
	Cells []Cell
}

func viewTable(t Table, looks []look) tableView {
	v := tableView{Table: t}
	named := false
	for i, c := range t.Columns {
		named = named || c.Group != ""
		if i > 0 && t.Columns[i-1].Group == c.Group {
			v.Groups[len(v.Groups)-1].Span++
		} else {
			v.Groups = append(v.Groups, group{c.Group, 1})
		}
	}
	if !named {
		v.Groups = nil
	}
	for _, r := range t.Rows {
		v.Marked = v.Marked || slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Standing != "" })
		row := rowView{Cells: r.Cells}
		if r.Series >= 0 && r.Series < len(looks) {
			row.Look = &looks[r.Series]
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// look is how a series is drawn: a colour of the style sheet, 0 for that of the
// text, and a pattern of dashes where the colours alone are hard to tell apart.
type look struct {
	Series
	Colour int    `json:"colour"`
	Dash   string `json:"dash"`
}

const (
	colours = 7 // besides that of the text
	plain   = 4 // of these need no dashes
)

func looks(all []Series) []look {
	out := make([]look, len(all))
	next := 0
	for i, s := range all {
		out[i].Series, out[i].Dash = s, "none"
		if s.Baseline {
			continue
		}
		out[i].Colour = 1 + next%colours
		switch {
		case next >= colours:
			out[i].Dash = "2 3"
		case next >= plain:
			out[i].Dash = "7 3"
		}
		next++
	}
	return out
}
