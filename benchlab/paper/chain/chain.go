// Package chain makes the strategies of a chain that is given as text, and drives
// them without a simulator.
package chain

import (
	"fmt"

	"gatewayd/benchlab/sim"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/strategies"
)

// Open makes instances of a chain of the catalog's strategies, written as benchlab
// compare takes it. They serve one run with that seed.
func Open(text string, seed uint64) ([]sim.Link, error) {
	refs, err := ref.ParseChain(text)
	if err != nil {
		return nil, err
	}
	var links []sim.Link
	for i, r := range refs {
		d, err := strategies.Find(r.Name)
		if err != nil {
			return nil, fmt.Errorf("chain %q: %w", text, err)
		}
		instance, err := d.New(r.Options, sim.StrategySeed(seed, i))
		if err != nil {
			return nil, fmt.Errorf("chain %q: %w", text, err)
		}
		links = append(links, sim.Link{Name: d.Name, Instance: instance})
	}
	return links, nil
}

// Known reports whether the catalog has the strategies of a chain.
func Known(text string) bool {
	refs, err := ref.ParseChain(text)
	for _, r := range refs {
		if err == nil {
			_, err = strategies.Find(r.Name)
		}
	}
	return err == nil
}
