package energy

import (
	"fmt"
	"strings"

	"gatewayd/pkg/router"
)

// baselines are yearly means of countries in gCO2e/kWh, rounded, after
// eoc-carbon. A zone such as US-CAL-CISO begins with its country.
func baseline(zone string) (grams float64, country string) {
	country, _, _ = strings.Cut(strings.ToUpper(zone), "-")
	switch country {
	case "NO":
		grams = 30
	case "SE":
		grams = 40
	case "FR":
		grams = 60
	case "CA":
		grams = 130
	case "GB":
		grams = 220
	case "US":
		grams = 370
	case "DE":
		grams = 380
	case "JP":
		grams = 470
	case "AU":
		grams = 540
	case "CN":
		grams = 555
	case "IN":
		grams = 635
	case "PL":
		grams = 660
	case "ZA":
		grams = 900
	}
	return grams, country
}

// standIns is what takes the place of readings that are missing or stale.
type standIns struct {
	marginal bool
	zones    map[string]mean
	all      mean
}

type mean struct {
	sum float64
	n   int
}

func (m mean) with(v float64) mean { return mean{m.sum + v, m.n + 1} }

func (m mean) value() float64 { return m.sum / float64(m.n) }

func (c config) standIns(in router.PlanInput, marginal bool) standIns {
	s := standIns{marginal: marginal, zones: map[string]mean{}}
	for _, w := range in.Fleet.Workers {
		if c.counts(w, in.Now, marginal) {
			g := w.Carbon.GramsPerKWh.Value
			s.zones[w.Zone], s.all = s.zones[w.Zone].with(g), s.all.with(g)
		}
	}
	return s
}

// of returns the best guess at the intensity in a zone, and its name: the readings
// of other workers there, else the yearly mean of the country or the world. Yearly
// means are averages and must not stand among marginal readings; those have their
// own mean.
func (s standIns) of(zone string) (grams float64, called string) {
	if m := s.zones[zone]; zone != "" && m.n > 0 {
		return m.value(), "that of their zone"
	}
	if s.marginal && s.all.n > 0 {
		return s.all.value(), "the mean of the marginal readings"
	}
	if g, country := baseline(zone); g > 0 {
		return g, fmt.Sprintf("the yearly mean of %s, %g g/kWh", country, g)
	}
	return worldAverage, fmt.Sprintf("the world average of %d g/kWh", worldAverage)
}
