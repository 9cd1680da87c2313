package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
	"gatewayd/pkg/plugin/ref"
	"gatewayd/pkg/router"
)

// oracle is the name of the contender that sees into the workers; its chain is
// sim.Oracle.
const oracle = "oracle"

// contender is one chain of strategies.
type contender struct {
	name  string
	chain []ref.Ref

	sources  []source         // of the chain, once they are found
	programs []report.Program // plugins among them
	plans    bool             // one of them makes tables
}

// parseContenders reads the values of --strategy, or takes the default ones. A
// chain that is given again gets a number to its name.
func parseContenders(chains []string) ([]contender, error) {
	if len(chains) == 0 {
		chains = defaultContenders()
	}
	out := make([]contender, len(chains))
	times := map[string]int{}
	for i, text := range chains {
		chain, err := ref.ParseChain(text)
		if err != nil {
			return nil, usage("--strategy %q: %w", text, err)
		}
		names := make([]string, len(chain))
		for k, r := range chain {
			names[k] = r.String()
		}
		name := strings.Join(names, "+")
		if times[name]++; times[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, times[name])
		}
		out[i] = contender{name: name, chain: chain}
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

// find finds the chain's strategies and tries to open them once, so that a wrong
// option is noticed before any work is done.
func (c *contender) find(ctx context.Context, all sources) error {
	c.sources = nil
	for _, r := range c.chain {
		if r.IsPath() {
			if err := notFolder(r.Name); err != nil {
				return usage("--strategy %s: %w", c.name, err)
			}
		}
		from, err := all.find(ctx, r)
		if err != nil {
			return usage("--strategy %s: %w", c.name, err)
		}
		if slices.ContainsFunc(c.sources, func(s source) bool { return s.name() == from.name() }) {
			return usage("--strategy %s: %s comes twice in the chain; the second could never decide", c.name, from.name())
		}
		c.sources = append(c.sources, from)
		if r.IsPath() {
			p, err := checksummed(r.Name)
			if err != nil {
				return usage("--strategy %s: %w", c.name, err)
			}
			c.programs = append(c.programs, p)
		}
	}
	_, opened, err := c.open(ctx, 0)
	for _, w := range opened {
		c.plans = c.plans || w.Info().Plans
	}
	closeAll(opened)
	return err
}

// open makes the chain's instances, each under a stopwatch.
func (c *contender) open(ctx context.Context, seed uint64) ([]sim.Link, []*watched, error) {
	if c.name == oracle {
		return sim.Oracle(), nil, nil
	}
	var links []sim.Link
	var clocks []*watched
	for i, r := range c.chain {
		from := c.sources[i]
		instance, err := from.open(ctx, r.Options, sim.StrategySeed(seed, i))
		if err == nil {
			err = sim.Check(from.name(), instance)
		}
		if err != nil {
			return nil, nil, usage("--strategy %s: %w", c.name, err)
		}
		w := &watched{Instance: instance, name: from.name()}
		clocks = append(clocks, w)
		links = append(links, sim.Link{Name: from.name(), Instance: w})
	}
	return links, clocks, nil
}
