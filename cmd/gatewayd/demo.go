package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/engine"
	"gatewayd/benchlab/worker"
	"gatewayd/internal/config"
	"gatewayd/internal/daemon"
	"gatewayd/pkg/plugin/ref"
)

const (
	demoWorkers = 4
	demoModel   = "llama-3.1-8b"
	demoProfile = "llama-3.1-8b-h100"
)

// demoZones are the grid zones of the emulated workers: national means of 2023
// in gCO2e/kWh (Our World in Data / Ember).
var demoZones = []struct {
	name  string
	grams float64
}{{"france", 56}, {"germany", 381}}

func demoCommand(p process) *cli.Command {
	return &cli.Command{
		Name:        "demo",
		Usage:       "run the gateway in front of four emulated workers, without a GPU",
		UsageText:   "gatewayd demo\n\nExample: on ports of your own\n   gatewayd demo --listen 127.0.0.1:8081 --admin-listen 127.0.0.1:9091",
		Description: "The workers emulate Llama-3.1-8B on an H100 each: the timing, prefix cache and batching are those\nof a model of the engine, the words are not a language model's. Ctrl-C stops everything.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8080", Usage: "`ADDR` of the API; if it is busy, a free port is taken"},
			&cli.StringFlag{Name: "admin-listen", Value: "127.0.0.1:9090", Usage: "`ADDR` of metrics and administration; if it is busy, a free port is taken"},
			&cli.StringFlag{Name: "log-level", Value: "warn", Usage: "least `LEVEL` logged: trace, debug, info, warn or error"},
		},
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			cfg := config.Default()
			cfg.Log.Level = c.String("log-level")
			cfg.Listen, cfg.AdminListen = c.String("listen"), c.String("admin-listen")
			return demo(c.Context, p, cfg)
		},
	}
}

func demo(ctx context.Context, p process, cfg config.Config) error {
	workers, err := startWorkers()
	if err != nil {
		return err
	}
	defer workers.close()
	cfg.Strategies = []ref.Ref{{Name: "cacheroute"}, {Name: "sticky"}, {Name: "joule"}}
	cfg.Probe.Interval, cfg.Probe.Successes, cfg.Plan.Interval = time.Second, 1, 5*time.Second
	cfg.Timeouts.ShutdownGrace = 5 * time.Second
	cfg.Workers, cfg.Zones = workers.configs()
	for _, addr := range []*string{&cfg.Listen, &cfg.AdminListen} {
		*addr = freeAddress(p, *addr)
	}
	if err := cfg.Validate(); err != nil {
		return usageError{err}
	}
	o := daemon.Options{Config: cfg, Logger: newLogger(cfg.Log, p.stderr)}
	d, err := start(ctx, p, o)
	if err != nil {
		return err
	}
	if err := ready(ctx, d); err == nil {
		workers.announce(p, d)
	} else if ctx.Err() == nil { // nobody has asked it to stop meanwhile
		return errors.Join(err, d.Shutdown(context.Background()))
	}
	err = attend(ctx, d, o)
	fmt.Fprintln(p.stdout, "stopped")
	return err
}

// freeAddress returns addr, or one with a free port if its port is busy.
func freeAddress(p process, addr string) string {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		l.Close()
	}
	host, port, wrong := net.SplitHostPort(addr)
	if !errors.Is(err, syscall.EADDRINUSE) || wrong != nil {
		return addr // if something else is wrong with it, the gateway says what
	}
	fmt.Fprintf(p.stdout, "port %s is busy; taking a free one\n", port)
	return net.JoinHostPort(host, "0")
}

// ready waits until the gateway has a worker.
func ready(ctx context.Context, d *daemon.Daemon) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for up := 0; up < demoWorkers; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("only %d of the %d emulated workers came up: %w", up, demoWorkers, context.Cause(ctx))
		case <-tick.C:
		}
		up = 0
		for _, pool := range d.Set().Pools() {
			for _, m := range pool.Loads() {
				if !m.Down {
					up++
				}
			}
		}
	}
	return nil
}

// emulated is a set of emulated workers on loopback.
type emulated struct {
	servers []*worker.Server
	https   []*http.Server
	urls    []string
}

func startWorkers() (_ *emulated, err error) {
	profile, err := engine.ProfileByName(demoProfile)
	if err != nil {
		return nil, err
	}
	e := &emulated{}
	for range demoWorkers {
		s, err := worker.New(worker.Config{Models: []string{demoModel}, Profile: profile})
		if err != nil {
			e.close()
			return nil, err
		}
		e.servers = append(e.servers, s)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			e.close()
			return nil, fmt.Errorf("start an emulated worker: %w", err)
		}
		h := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
		e.https = append(e.https, h)
		e.urls = append(e.urls, "http://"+l.Addr().String())
		go h.Serve(l)
	}
	return e, nil
}

func (e *emulated) close() {
	for _, h := range e.https {
		h.Close()
	}
	for _, s := range e.servers {
		s.Close()
	}
}

func (e *emulated) configs() ([]config.Worker, map[string]config.Zone) {
	zones := map[string]config.Zone{}
	for _, z := range demoZones {
		zones[z.name] = config.Zone{GramsPerKWh: z.grams}
	}
	var workers []config.Worker
	for i, u := range e.urls {
		workers = append(workers, config.Worker{
			URL: u, ID: fmt.Sprintf("worker-%d", i+1), Zone: demoZones[i%len(demoZones)].name,
			// Llama-3.1-8B on one H100, fit of ML.ENERGY's measured points.
			Energy: config.Energy{PrefillJoules: 0.028, DecodeJoules: 0.068, SharedJoules: 3.11},
		})
	}
	return workers, zones
}

// announce says what runs where, and what to try.
func (e *emulated) announce(p process, d *daemon.Daemon) {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ngateway\thttp://%s\tOpenAI API\n", d.Addr())
	fmt.Fprintf(w, "admin\thttp://%s\tmetrics and administration\n", d.AdminAddr())
	for i, u := range e.urls {
		fmt.Fprintf(w, "worker-%d\t%s\temulated %s, zone %s\n", i+1, u, demoProfile, demoZones[i%len(demoZones)].name)
	}
	for _, s := range d.Set().Processes() {
		fmt.Fprintf(w, "strategy %s\tpid %d\t%s\n", s.Name, s.Pid, s.Phase)
	}
	w.Flush()
	fmt.Fprintf(p.stdout, "chain: %s; state in memory\n\nTry:\n", strings.Join(d.Set().Strategies(), " -> "))
	fmt.Fprintf(p.stdout, "  curl -N http://%s/v1/chat/completions -H 'Content-Type: application/json' -d '{\"model\":\"%s\",\"stream\":true,\"max_tokens\":40,\"messages\":[{\"role\":\"user\",\"content\":\"Why is the sky blue?\"}]}'\n", d.Addr(), demoModel)
	fmt.Fprintf(p.stdout, "  curl http://%s/v1/models\n", d.Addr())
	fmt.Fprintf(p.stdout, "  curl http://%s/metrics\n\nCtrl-C stops everything.\n", d.AdminAddr())
}
