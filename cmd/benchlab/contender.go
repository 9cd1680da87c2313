package main

import (
	"context"
	"slices"
	"strings"

	"gatewayd/benchlab/sim"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
)

// contender is one chain of strategies.
type contender struct {
	name  string
	chain []ref.Ref

	links  []sim.Link // once it is open
	clocks []*watched // of the links
}

// parseContenders reads the values of --strategy, or takes the default ones.
func parseContenders(chains []string) ([]contender, error) {
	if len(chains) == 0 {
		chains = defaultContenders()
	}
	out := make([]contender, len(chains))
	for i, text := range chains {
		chain, err := ref.ParseChain(text)
		if err != nil {
			return nil, usage("--strategy %q: %w", text, err)
		}
		names := make([]string, len(chain))
		for k, r := range chain {
			names[k] = r.String()
		}
		out[i] = contender{name: strings.Join(names, "+"), chain: chain}
	}
	return out, nil
}

// source opens instances of one strategy, wherever it runs.
type source interface {
	// name is the strategy's own name.
	name() string
	open(ctx context.Context, o router.Options, seed uint64) (router.Instance, error)
}

// sources finds the source of a strategy by its name or path.
type sources interface {
	find(ctx context.Context, r ref.Ref) (source, error)
}

// open makes the chain's instances, each under a stopwatch.
func (c *contender) open(ctx context.Context, all sources, seed uint64) error {
	for i, r := range c.chain {
		from, err := all.find(ctx, r)
		if err != nil {
			return usage("--strategy %s: %w", c.name, err)
		}
		instance, err := from.open(ctx, r.Options, sim.StrategySeed(seed, i))
		if err == nil {
			err = sim.Check(from.name(), instance)
		}
		if err != nil {
			return usage("--strategy %s: %w", c.name, err)
		}
		if slices.ContainsFunc(c.links, func(k sim.Link) bool { return k.Name == from.name() }) {
			return usage("--strategy %s: %s comes twice in the chain; the second could never decide", c.name, from.name())
		}
		w := &watched{Instance: instance, name: from.name()}
		c.clocks = append(c.clocks, w)
		c.links = append(c.links, sim.Link{Name: from.name(), Instance: w})
	}
	return nil
}
