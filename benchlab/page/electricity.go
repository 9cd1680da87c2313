package page

import (
	"fmt"
	"strings"
)

// electricity is energy and carbon.
func (v *view) electricity() Section {
	s := Section{ID: "electricity", Title: "Energy and carbon"}
	for _, k := range v.columnsOf(ofElectricity) {
		c := Chart{Kind: Intervals, Title: capital(k.Label) + ", " + k.Unit, X: Axis{Label: k.Unit, Zero: true},
			Alt: k.Label + " of each contender with its interval; the table below has the numbers."}
		any := false
		for i := range v.Contenders {
			e := v.Contenders[i].Figures[k.Name]
			_, known := e.Mean.Value()
			any = any || known
			c.Intervals = append(c.Intervals, Interval{Series: i, Value: scaled(k, e.Mean), Low: scaled(k, e.Low), High: scaled(k, e.High), Text: in(k, e.Mean)})
		}
		if any {
			s.Charts = append(s.Charts, c)
		}
		s.Notes = append(s.Notes, capital(k.Label)+": "+sentence(k.About))
	}
	if len(s.Notes) == 0 {
		return Section{}
	}
	if len(s.Charts) == 0 {
		s.Notes = append(s.Notes, "Nobody measured the power of "+v.Setup.Profile.Name+", so all of this is unknown.")
	}
	s.Tables = []Table{v.table("Energy and carbon", ofElectricity)}
	var zones []string
	for _, z := range v.Setup.Zones {
		zones = append(zones, fmt.Sprintf("%s at %v gCO2e/kWh (%s)", z.Name, z.GramsPerKWh, z.Source))
	}
	if len(zones) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("Workers lie in these zones in turn: %s. PUE %v.", strings.Join(zones, ", "), v.Setup.PUE))
	}
	return s
}
