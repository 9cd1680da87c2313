package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gatewayd/benchlab/worker"
)

func (p program) worker() *cli.Command {
	return &cli.Command{
		Name:         "worker",
		Usage:        "serve an emulated model server with an OpenAI-compatible API until interrupted",
		OnUsageError: wrongFlag, Before: noArgs,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDR` to listen on, as 127.0.0.1:8001; port 0 takes a free one"},
			&cli.StringSliceFlag{Name: "model", Usage: "a `NAME` that the model goes by; repeatable; default: the profile's model"},
			&cli.StringFlag{Name: "profile", Value: defaultProfile, Usage: "what the worker is: an engine profile's `NAME|FILE`"},
			&cli.Float64Flag{Name: "speed", Value: 1, Usage: "engine seconds per second: `X`=2 answers twice as fast"},
			&cli.IntFlag{Name: "context", Usage: "longest prompt and answer together, `N` tokens", DefaultText: "131072, or what the KV cache holds if less"},
			&cli.BoolFlag{Name: "forget-answers", Usage: "keep answers out of the prefix cache, as the simulator does"},
			&cli.StringFlag{Name: "api-key-file", Usage: "`FILE` with the key that clients must send"},
		},
		Action: func(c *cli.Context) error {
			if c.String("listen") == "" {
				return usage("--listen is missing: give an address to listen on, as --listen 127.0.0.1:8001")
			}
			config, err := workerConfig(c)
			if err != nil {
				return err
			}
			server, err := worker.New(config)
			if err != nil {
				return usageError{err}
			}
			defer server.Close()
			listener, err := net.Listen("tcp", c.String("listen"))
			if errors.As(err, new(*net.AddrError)) {
				return usage("--listen: %w; give an address as 127.0.0.1:8001", err)
			}
			if err != nil {
				return fmt.Errorf("--listen: %w; choose another port, or 0 for a free one", err)
			}
			_, err = fmt.Fprintf(p.stdout, "serving %s (profile %s, speed %v) on http://%v\n",
				strings.Join(config.Models, ", "), config.Profile.Name, config.Speed, listener.Addr())
			if err != nil {
				listener.Close()
				return err
			}
			return serve(c.Context, listener, server)
		},
	}
}

func workerConfig(c *cli.Context) (worker.Config, error) {
	profile, err := readProfile(c.String("profile"))
	if err != nil {
		return worker.Config{}, usage("--profile: %w", err)
	}
	config := worker.Config{
		Models: c.StringSlice("model"), Profile: profile, Speed: c.Float64("speed"),
		ContextLen: c.Int("context"), ForgetAnswers: c.Bool("forget-answers"),
	}
	if !(config.Speed > 0 && config.Speed <= math.MaxFloat32) {
		return config, usage("--speed %v: give a positive number, 1 for real time", config.Speed)
	}
	if len(config.Models) == 0 {
		config.Models = []string{profile.Model}
	}
	if name := c.String("api-key-file"); name != "" {
		if config.APIKey, err = readKey(name); err != nil {
			return config, err
		}
	}
	return config, nil
}

// serve serves until the context ends; then requests have a short while left.
func serve(ctx context.Context, l net.Listener, s *worker.Server) error {
	const grace = 2 * time.Second
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(last) != nil {
		s.Close() // ends the streams that are still going
		server.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
