package daemon

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/admin"
)

// serve begins to serve on the listeners.
func (d *Daemon) serve(api, adminListener net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	go func() {
		defer close(d.done)
		d.loads(ctx)
	}()
	d.api = d.apiServer()
	start := func(s *http.Server, l net.Listener) {
		go func() {
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				d.failed <- err
			}
		}()
	}
	start(d.api, api)
	if adminListener != nil {
		d.admin = &http.Server{
			Handler:           admin.New(d.o.Version, d.telemetry.Metrics.Handler(), d.set, d.fleet),
			ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: time.Minute, IdleTimeout: idleTimeout, ErrorLog: d.errorLog(),
		}
		start(d.admin, adminListener)
	}
}

// How long a client may take for the head of a request, and between two.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// apiServer returns the server of the API. The gateway bounds bodies and answers
// itself, by what comes.
func (d *Daemon) apiServer() *http.Server {
	return &http.Server{
		Handler: d.gateway, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: int(d.o.Config.Limits.HeaderBytes), ErrorLog: d.errorLog(),
	}
}

// errorLog takes what the servers have to say: that connections cannot be
// accepted, for example.
func (d *Daemon) errorLog() *log.Logger {
	return d.log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn})
}

// loads takes over the workers' scraped figures a few times a second.
func (d *Daemon) loads(ctx context.Context) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.set.Loads(d.fleet)
		}
	}
}

// Shutdown stops the gateway. Readiness fails at once. New requests are served
// while others run, for half of the time until ctx ends: who sends them needs a
// moment to notice. Then running requests may end until ctx is done, and
// everything is taken down. The error says that requests were cut off.
func (d *Daemon) Shutdown(ctx context.Context) error {
	d.gateway.Drain()
	d.accompany(ctx)
	err := d.api.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("requests were cut off after the grace time: %w", err)
		d.gateway.Stop()
		d.hangUp()
	}
	d.stop()
	<-d.done
	d.closeRecorder()
	d.fleet.Close()
	d.set.Close()
	d.gateway.Close()
	if d.admin != nil {
		d.admin.Close()
	}
	if cerr := d.store.Close(); cerr != nil {
		d.log.Debug("the state store was not closed well", "error", cerr)
	}
	if terr := d.telemetry.Shutdown(context.Background()); terr != nil {
		d.log.Warn("telemetry was not flushed", "error", terr)
	}
	return err
}

// recordGrace is the time to write down what is queued.
const recordGrace = 5 * time.Second

func (d *Daemon) closeRecorder() {
	if d.recorder == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordGrace)
	defer cancel()
	if err := d.recorder.Close(ctx); err != nil {
		d.log.Warn("traffic was not written down", "error", err)
	}
}

// hangUp lets what the clients are told reach them, and closes all connections.
func (d *Daemon) hangUp() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if d.api.Shutdown(ctx) != nil {
		d.api.Close()
	}
}

// accompany waits until no request runs, or half of ctx's time is over.
func (d *Daemon) accompany(ctx context.Context) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	select {
	case <-d.gateway.Idle():
	case <-ctx.Done():
	}
}
