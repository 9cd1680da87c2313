package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/report"
	"gatewayd/benchlab/sim"
	"gatewayd/benchlab/sim/measure"
)

// study is what the contenders of a comparison or a sweep have in common.
type study struct {
	command    []string
	contenders []contender
	seeds      []uint64
	traffic    traffic
	workers    int
	profile    engine.Profile
	assumed    []string
	options    sim.Options
	slo        measure.SLO
}

// newStudy reads flags and trace.
func newStudy(c *cli.Context, command []string) (*study, error) {
	s := &study{command: command, workers: c.Int("workers")}
	for _, read := range []func(*cli.Context) error{s.readContenders, s.readFleet, s.readOptions, s.readSeeds, s.readTraffic} {
		if err := read(c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *study) readContenders(c *cli.Context) (err error) {
	s.contenders, err = parseContenders(c.StringSlice("strategy"))
	return err
}

func (s *study) readFleet(c *cli.Context) (err error) {
	if s.slo, err = parseSLO(c.String("slo")); err != nil {
		return err
	}
	if s.profile, err = someProfile(c, c.String("profile")); err != nil {
		return err
	}
	if s.workers < 1 || s.workers > maxSimWorkers {
		return usage("--workers %d: give a number from 1 to %d", s.workers, maxSimWorkers)
	}
	if c.IsSet("kv-blocks") {
		s.assumed = append(s.assumed, fmt.Sprintf("KV cache of %d blocks a worker", c.Int("kv-blocks")))
	}
	if _, err := engine.New(s.profile); err != nil {
		if !c.IsSet("kv-blocks") && s.profile.KVBlocks == 0 {
			return usage("--profile %s: its KV capacity is unknown; assume one with --kv-blocks", c.String("profile"))
		}
		return usage("--profile or --kv-blocks: %w", err)
	}
	return nil
}

// readProfile finds a profile by its name or, if that is a path, in its file.
func readProfile(name string) (engine.Profile, error) {
	if !strings.ContainsAny(name, "/.") || isProfile(name) {
		return engine.ProfileByName(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return engine.Profile{}, err
	}
	defer f.Close()
	p, err := engine.ReadProfile(f)
	if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

func isProfile(name string) bool {
	_, err := engine.ProfileByName(name)
	return err == nil
}

// readTraffic reads the trace, which takes longest, last.
func (s *study) readTraffic(c *cli.Context) error {
	rows, scale := c.Int("requests"), c.Float64("rate-scale")
	if rows < 0 {
		return usage("--requests %d: give a number of requests, 0 for all", rows)
	}
	if c.IsSet("rate-scale") && !(scale >= minScale && scale <= maxScale) {
		return usage("--rate-scale %v: give a number from %v to %v, 1 for the recorded rate", scale, minScale, maxScale)
	}
	if !c.IsSet("rate-scale") {
		if scale = 1; c.String("trace") == "" {
			scale = defaultScale
		}
	}
	place, err := placeOf(c, c.String("trace"))
	if err != nil {
		return err
	}
	s.traffic = traffic{rows: rows, scale: scale}
	if s.traffic.input, err = place.read(); err != nil {
		return usage("--trace: %w", err)
	}
	if err := s.traffic.readSessions(c); err != nil {
		return err
	}
	s.options.Timing, err = sim.ParseTiming(s.traffic.timing(c))
	return err
}

// Bounds of --rate-scale.
const (
	minScale = 1e-6
	maxScale = 1e6
)

// config is that of a run, but for its chain.
func (s *study) config(p *prepared) sim.Config {
	return sim.Config{Trace: p.trace, Outline: p.outline, Workers: sim.Fleet(s.workers, s.profile), Seed: p.seed, Options: s.options}
}

// bounds finds what no strategy can pass. It notices what the simulation would
// refuse.
func (s *study) bounds(first *prepared) ([]sim.Bound, error) {
	bounds, err := sim.Bounds(s.config(first))
	if err != nil {
		return nil, usageError{err}
	}
	return bounds, nil
}

// programs lists the plugins among the contenders, each once.
func (s *study) programs() []report.Program {
	out := []report.Program{}
	for _, c := range s.contenders {
		for _, p := range c.programs {
			if !containsProgram(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

func containsProgram(all []report.Program, p report.Program) bool {
	for _, x := range all {
		if x == p {
			return true
		}
	}
	return false
}
