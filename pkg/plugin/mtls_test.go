package plugin

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"gatewayd/pkg/plugin/wire"
)

func TestMutualTLS(t *testing.T) {
	s := spec("good", "faulty")
	s.MTLS = true
	p := started(t, s)
	i, err := p.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := i.RouteContext(t.Context(), request("x"), TraceContext{}); err != nil || d.Reason != "x" {
		t.Errorf("%+v, %v", d, err)
	}
	// Nobody without the host's certificate is served.
	sockets, err := filepath.Glob(p.dir.path + "/*/*")
	if err != nil || len(sockets) != 1 {
		t.Fatal(sockets, err)
	}
	conn, err := grpc.NewClient("unix:"+sockets[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := wire.NewStrategyClient(conn).Describe(ctx, &wire.DescribeRequest{}); err == nil || ctx.Err() != nil {
		t.Errorf("a stranger is answered: %v, %v", err, ctx.Err())
	}

	s = spec("mute", "") // shows no certificate
	s.MTLS, s.StartTimeout = true, time.Minute
	_, err = Launch(t.Context(), s)
	wantError(t, "a plugin without TLS", err, ErrInvalid, "the plugin shows no certificate, and mutual TLS is switched on")
}
