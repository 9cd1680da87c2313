package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gatewayd/benchlab/calibrate"
	"gatewayd/benchlab/engine"
)

// Config says what to probe, and how long.
type Config struct {
	Target   string        // base URL, with or without /v1; required
	Model    string        // "" is the first one that the server lists
	APIKey   string        // sent as a bearer token unless empty
	Requests int           // at most, the first two not counted; 0 is 120
	Timeout  time.Duration // of everything; 0 is a minute
	Salt     uint64        // makes texts that the server has not seen: draw it
	Client   *http.Client  // nil is http.DefaultClient
}

// Findings are what a probe learned besides the run.
type Findings struct {
	Model        string        // as the server calls it
	KVBlocks     int           // 0 is unknown
	BlockTokens  int           // 0 is unknown
	RoundTrip    time.Duration // the shortest one
	CachedTokens int           // of the repeated prompt, by the server's usage
	Repeated     int           // how often one prompt was sent; below 2 the prefix cache is unknown
	FirstTTFT    time.Duration // of the repeated prompt, the first time
	AgainTTFT    time.Duration // and the second
}

// Probe measures one worker once.
type Probe struct {
	config Config
	base   string
	model  string
	origin time.Time
	trip   time.Duration
	ratio  float64 // words per token
	fixed  int     // tokens around a prompt
	block  int     // tokens of a KV block
}

// New checks the config, and sends nothing yet.
func New(c Config) (*Probe, error) {
	u, err := url.Parse(c.Target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("target %q is no URL as http://127.0.0.1:8000", c.Target)
	}
	if c.Requests < 0 || c.Timeout < 0 {
		return nil, errors.New("probe: requests and timeout must not be negative")
	}
	if c.Requests == 0 {
		c.Requests = 120
	}
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	if c.Client == nil {
		c.Client = http.DefaultClient
	}
	base := strings.TrimSuffix(strings.TrimSuffix(c.Target, "/"), "/v1")
	return &Probe{config: c, base: base, model: c.Model}, nil
}

// Run probes the worker. When time or requests run out after the prefill sweep, the
// run has what was measured so far, and a note.
func (p *Probe) Run(ctx context.Context) (*calibrate.Run, Findings, error) {
	run, f, err := p.run(ctx)
	if err != nil {
		return nil, f, fmt.Errorf("probing %s: %w", p.config.Target, err)
	}
	return run, f, nil
}

func (p *Probe) run(ctx context.Context) (*calibrate.Run, Findings, error) {
	p.origin = time.Now()
	ctx, cancel := context.WithTimeout(ctx, p.config.Timeout)
	defer cancel()
	if err := p.meet(ctx); err != nil {
		return nil, Findings{}, err
	}
	f := Findings{Model: p.model, RoundTrip: p.trip}
	f.BlockTokens, f.KVBlocks = p.capacity(ctx)
	if p.block = f.BlockTokens; p.block == 0 {
		p.block = engine.DefaultBlockTokens
	}
	if err := p.learnTokens(ctx); err != nil {
		return nil, f, err
	}
	run := &calibrate.Run{
		Name: "probe of " + p.config.Target, Model: p.model, Engine: "live", GPUs: 1, BlockTokens: p.block,
	}
	return run, f, p.follow(ctx, run, &f)
}
