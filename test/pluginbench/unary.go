package main

import (
	"context"
	"fmt"
	"os/exec"
	"sync"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// The plain way: one unary call for each route on go-plugin's connection, with
// its defaults. It carries what a route of the stream carries; the workers are
// known to the plugin, and loads that changed come along.

const unaryMethod = "/bench.Unary/Route"

func unaryHandshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "PLUGINBENCH", MagicCookieValue: "unary"}
}

func serveUnary() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: unaryHandshake(),
		Plugins:         goplugin.PluginSet{"unary": &unaryPlugin{}},
		GRPCServer:      goplugin.DefaultGRPCServer,
	})
}

type unaryPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	mu      sync.Mutex
	workers []router.Worker
}

// GRPCServer registers the one call.
func (p *unaryPlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Unary", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Route", Handler: func(srv any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			m := &wire.RouteTask{}
			if err := decode(m); err != nil {
				return nil, err
			}
			return srv.(*unaryPlugin).route(m), nil
		}}},
	}, p)
	return nil
}

// GRPCClient hands the connection out as it is.
func (p *unaryPlugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// route does what a lane does with its table.
func (p *unaryPlugin) route(m *wire.RouteTask) *wire.Answer {
	in := wire.DecodeRoute(m)
	p.mu.Lock()
	for _, c := range m.GetLoads() {
		for int(c.GetSlot()) >= len(p.workers) {
			p.workers = append(p.workers, router.Worker{ID: fmt.Sprint("w", len(p.workers))})
		}
		p.workers[c.GetSlot()].Load.InFlight = int(c.GetInFlight())
	}
	in.Workers = append(in.Workers, p.workers...)
	p.mu.Unlock()
	return &wire.Answer{Decision: wire.EncodeDecision(least{}.Route(in))}
}

type unary struct {
	conn  *grpc.ClientConn
	pid   int
	close func()

	mu    sync.Mutex
	loads []int
}

func openUnary(self string, workers int) (*unary, error) {
	cmd := exec.Command(self, asUnary)
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: unaryHandshake(), Plugins: goplugin.PluginSet{"unary": &unaryPlugin{}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC}, Cmd: cmd, Logger: hclog.NewNullLogger(),
	})
	rpc, err := client.Client()
	if err != nil {
		client.Kill()
		return nil, fmt.Errorf("start the unary plugin: %w", err)
	}
	conn, err := rpc.Dispense("unary")
	if err != nil {
		client.Kill()
		return nil, fmt.Errorf("start the unary plugin: %w", err)
	}
	return &unary{conn: conn.(*grpc.ClientConn), pid: cmd.Process.Pid, close: client.Kill, loads: make([]int, workers)}, nil
}

func (u *unary) route(ctx context.Context, in router.Input) error {
	m := wire.EncodeRoute(&in)
	u.mu.Lock()
	for i := range in.Workers {
		if load := in.Workers[i].Load.InFlight; load != u.loads[i] || load == 0 {
			m.Loads = append(m.Loads, &wire.LoadChange{Slot: uint32(i), InFlight: int64(load)})
			u.loads[i] = load
		}
	}
	u.mu.Unlock()
	answer := &wire.Answer{}
	if err := u.conn.Invoke(ctx, unaryMethod, m, answer); err != nil {
		return err
	}
	_, err := wire.DecodeDecision(answer.GetDecision(), len(in.Workers))
	return err
}
