package strategytest

import (
	"slices"
	"testing"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies"
)

// TestShipped holds the shipped strategies to the rules, two of them in a
// process of their own as well.
func TestShipped(t *testing.T) {
	for _, d := range strategies.Catalog() {
		o := Options{History: 2000, InProcess: !slices.Contains([]string{"cacheroute", "joule"}, d.Name)}
		t.Run(d.Name, func(t *testing.T) { Run(t, d, o) })
	}
}

// TestOptions hands a strategy its options.
func TestOptions(t *testing.T) {
	d, err := strategies.Find("cacheroute")
	if err != nil {
		t.Fatal(err)
	}
	Run(t, d, Options{Options: router.Options{"mode": "paper"}, History: 8000, InProcess: true})
}
