package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/admin"
	"gatewayd/internal/downstream"
	"gatewayd/internal/gateway"
)

// serve begins to serve on the listeners.
func (d *Daemon) serve(api, adminListener net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.running.Go(func() { d.loads(ctx) })
	if d.o.File != "" {
		d.running.Go(func() { d.watch(d.life, d.o.File) })
	}
	d.api = downstream.New(downstream.Options{Base: d.apiServer(), Handler: d, Refuse: gateway.Refuse})
	start := func(s interface{ Serve(net.Listener) error }, l net.Listener) {
		go func() {
			if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				d.failed <- err
			}
		}()
	}
	start(d.api, api)
	if adminListener != nil {
		d.admin = &http.Server{
			Handler:           admin.New(admin.Options{Version: d.o.Version, Token: d.token, Metrics: d.telemetry.Metrics.Handler(), Gateway: d, Workers: d, Registrar: d, Changer: d, Shadows: d}),
			ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: changeTimeout, IdleTimeout: idleTimeout, ErrorLog: d.errorLog(),
		}
		start(d.admin, adminListener)
	}
}

// How long a client may take for the head of a request, and between two.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// changeTimeout bounds an answer of the admin listener; another configuration
// comes into force within it or not at all.
const changeTimeout = 10 * time.Minute

// apiServer returns the server of the API. The gateway bounds bodies and answers
// itself, by what comes.
func (d *Daemon) apiServer() *http.Server {
	s := &http.Server{
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: d.errorLog(),
	}
	gateway.Serves(s, d.o.Config)
	if s.TLSConfig != nil {
		s.TLSConfig.Certificates = nil
		s.TLSConfig.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return d.certificate.Load(), nil }
	}
	return s
}

// errorLog takes what the servers have to say: that connections cannot be
// accepted, for example.
func (d *Daemon) errorLog() *log.Logger {
	return d.log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn})
}

// Shutdown stops the gateway. Readiness fails at once. New requests are served
// while others run, for half of the time until ctx ends: who sends them needs a
// moment to notice. Then running requests may end until ctx is done, and
// everything is taken down. The error says that requests were cut off.
func (d *Daemon) Shutdown(ctx context.Context) error {
	d.die()
	d.changing.Lock() // what was under way ends, and nothing begins any more
	now, before := d.generations()
	d.changing.Unlock()
	all := append(before, now)
	for _, g := range all {
		g.gateway.Drain()
	}
	d.accompany(ctx, all)
	err := d.api.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("requests were cut off after the grace time: %w", err)
		for _, g := range all {
			g.gateway.Stop()
		}
		d.hangUp()
	}
	d.stop()
	d.running.Wait()
	d.closeRecorder()
	d.retiring.Wait()
	now.close()
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
func (d *Daemon) accompany(ctx context.Context, all []*generation) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	for _, g := range all {
		select {
		case <-g.gateway.Idle():
		case <-ctx.Done():
		}
	}
}
