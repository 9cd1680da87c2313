package main

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/benchlab/replay"
	"gatewayd/benchlab/worker"
	"gatewayd/internal/config"
	"gatewayd/internal/downstream"
	"gatewayd/internal/fleet"
	"gatewayd/internal/gateway"
	"gatewayd/internal/pool"
	"gatewayd/internal/record"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/plugin"
	"gatewayd/pkg/router"
	"gatewayd/state/memory"
)

// world is a real gateway with emulated workers in a network in memory. All of it
// is the code that serves, but for the processes of the strategies, which run here.
type world struct {
	t       *testing.T
	scene   scene
	net     network
	pool    *pool.Pool
	fleet   *fleet.Fleet
	gateway *gateway.Server
	workers []*worker.Server
	closing chan struct{}
	stops   []func()
}

// gatewayHost is where the gateway is in the network.
const gatewayHost = "gateway:80"

// build starts the world and waits until all workers are up and all strategies
// have planned.
func build(t *testing.T, s scene, chain string, r *record.Recorder) *world {
	w := &world{t: t, scene: s, closing: make(chan struct{})}
	cfg := config.Default()
	cfg.Probe.Successes, cfg.Probe.MetricsInterval = 1, time.Second
	cfg.Timeouts.ResponseHead, cfg.Timeouts.FirstToken, cfg.Timeouts.TokenGap = time.Hour, time.Hour, time.Hour
	for i, member := range s.fleet() {
		at := fmt.Sprintf("w%d:80", i)
		w.startWorker(at)
		cfg.Workers = append(cfg.Workers, config.Worker{URL: "http://" + at, ID: member.ID, Zone: member.Zone, Energy: config.Energy(member.Energy)})
	}
	cfg.Zones = zones(s)
	w.startPool(chain, cfg)
	w.startFleet(cfg)
	w.gateway = gateway.New(gateway.Options{
		Config: cfg, Pools: w, Workers: w.fleet, Telemetry: telemetry.Off(), Logger: hclog.NewNullLogger(), Dial: w.net.dial, Recorder: r,
	})
	w.stops = append(w.stops, w.gateway.Close, w.net.serve(gatewayHost, downstream.Standard{Handler: w.gateway}))
	return w
}

func zones(s scene) map[string]config.Zone {
	out := map[string]config.Zone{}
	for _, m := range s.fleet() {
		out[m.Zone] = config.Zone{GramsPerKWh: m.Carbon.GramsPerKWh.Value}
	}
	return out
}

func (w *world) startWorker(at string) {
	server, err := worker.New(worker.Config{
		Models: []string{model}, Profile: w.scene.profile, Speed: 1 / w.scene.dilation, ForgetAnswers: true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.workers = append(w.workers, server)
	w.stops = append(w.stops, server.Close, w.net.serve(at, server.Handler()))
}

func (w *world) startPool(chain string, cfg config.Config) {
	links, err := w.scene.links(chain)
	if err != nil {
		w.t.Fatal(err)
	}
	c := pool.Config{
		Gateway: "g", Store: memory.New(memory.Options{}), PlanTimeout: 10 * time.Second,
		Telemetry: telemetry.Off(), Logger: hclog.NewNullLogger(),
		Core: router.Config{Pool: "sim", Seed: w.scene.coreSeed(), PlanInterval: cfg.Plan.Interval},
	}
	for _, l := range links {
		c.Chain = append(c.Chain, pool.Link{Link: router.Link{Name: l.Name, Info: l.Instance.Info()}, Strategy: &inProcess{instance: l.Instance, delay: w.scene.plan}})
	}
	if w.pool, err = pool.New(c); err != nil {
		w.t.Fatal(err)
	}
	w.stops = append(w.stops, w.pool.Close)
}

// startFleet watches the workers and returns when all are up.
func (w *world) startFleet(cfg config.Config) {
	specs, err := fleet.Specs(cfg, router.Time(time.Now().UnixNano()))
	if err != nil {
		w.t.Fatal(err)
	}
	changed := make(chan *fleet.Snapshot)
	transport := w.net.transport()
	w.fleet, err = fleet.New(specs, fleet.Options{
		Probe: cfg.Probe, Breaker: cfg.Breaker, Transport: transport, OnChange: func(s *fleet.Snapshot) {
			select {
			case changed <- s:
			case <-w.closing:
			}
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.stops = append(w.stops, transport.CloseIdleConnections, w.fleet.Close, func() { close(w.closing) })
	tick := time.NewTimer(time.Second) // since the pool began: one of its ticks
	members := ready(changed, w.scene.workers)
	<-tick.C
	if err := w.pool.SetFleet(members); err != nil {
		w.t.Fatal(err)
	}
}

// ready waits until all workers are up and have told how much they hold.
func ready(changed <-chan *fleet.Snapshot, workers int) (members []router.Member) {
	for up := 0; up < workers; {
		members, up = nil, 0
		for _, m := range (<-changed).Pools()[model] {
			members = append(members, m.Member)
			if !m.Down && m.KVTokens > 0 {
				up++
			}
		}
	}
	return members
}

// Lookup implements gateway.Pools.
func (w *world) Lookup(name string) (*pool.Pool, string, bool) { return w.pool, "", name == model }

// close takes everything down, in the order against its start.
func (w *world) close() {
	for i := len(w.stops) - 1; i >= 0; i-- {
		w.stops[i]()
	}
}

// scrape takes over the workers' own figures, as the gateway's process does.
func (w *world) scrape(ctx context.Context) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.pool.SetLoads(w.fleet.Loads(model))
		}
	}
}

// replay sends the scene's traffic through the gateway.
func (w *world) replay(ctx context.Context) *replay.Result {
	transport := w.net.transport()
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go w.scrape(ctx)
	result, err := replay.Run(ctx, replay.Config{
		Trace: w.scene.trace, Target: &url.URL{Scheme: "http", Host: gatewayHost}, Model: model,
		Options: replay.Options{
			Dilation: w.scene.dilation, Timing: w.scene.timing, SessionHeader: "X-Session-Id", Transport: transport, Timeout: time.Hour,
			Endpoint: replay.Completions, Tokens: replay.Tokens{BytesPerToken: 4},
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	<-w.gateway.Idle() // a client has its answer before the gateway is done with it
	return result
}

// inProcess is a strategy in this process, as the pool calls it.
type inProcess struct {
	mu       sync.Mutex
	instance router.Instance
	delay    time.Duration // of a plan
}

// RouteContext implements pool.Strategy.
func (s *inProcess) RouteContext(_ context.Context, in router.Input, _ plugin.TraceContext) (router.Decision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance.(router.Strategy).Route(in), nil
}

// PlanContext implements pool.Strategy.
func (s *inProcess) PlanContext(ctx context.Context, in router.PlanInput, _ plugin.TraceContext) (router.Plan, error) {
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return router.Plan{}, ctx.Err()
	}
	return s.instance.(router.Planner).Plan(in)
}

// ObserveContext implements pool.Strategy.
func (s *inProcess) ObserveContext(_ context.Context, events []router.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.instance.(router.Observer); ok {
		o.Observe(events)
	}
	return nil
}

// recorder writes the world's traffic down.
func recorder(t *testing.T, path string) *record.Recorder {
	t.Helper()
	r, err := record.Open(record.Options{
		Config: config.Record{File: path, FileBytes: 1 << 30, Files: 1}, Salt: record.NewSalt(), BlockBytes: gateway.BlockBytes,
		Metrics: telemetry.Off().Metrics, Logger: hclog.NewNullLogger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
