package plugin

import (
	"context"
	"strings"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"gatewayd/pkg/plugin/wire"
)

// zero is a version before the first: its service has another name, and its
// descriptions say version 0.
type zero struct {
	goplugin.NetRPCUnsupportedPlugin
	wire.StrategyServer
}

func (z zero) Describe(ctx context.Context, m *wire.DescribeRequest) (*wire.DescribeResponse, error) {
	about, err := z.StrategyServer.Describe(ctx, m)
	about.Protocol = 0
	return about, err
}

func (z zero) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	service := wire.Strategy_ServiceDesc
	service.ServiceName = inZero(service.ServiceName)
	s.RegisterService(&service, z)
	return nil
}

func (zero) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return wire.NewStrategyClient(zeroConn{conn}), nil
}

// inZero is the name in version 0 of what has the name in version 1.
func inZero(name string) string { return strings.Replace(name, ".v1.", ".v0.", 1) }

// zeroConn calls version 0 where version 1 is meant.
type zeroConn struct{ grpc.ClientConnInterface }

func (c zeroConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return c.ClientConnInterface.Invoke(ctx, inZero(method), args, reply, opts...)
}

func (c zeroConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return c.ClientConnInterface.NewStream(ctx, desc, inZero(method), opts...)
}

// A host takes the highest version that both speak, its own or the one before.
func TestVersionsAreNegotiated(t *testing.T) {
	first := map[int]goplugin.PluginSet{0: {dispenseName: zero{}}}
	both := map[int]goplugin.PluginSet{0: {dispenseName: zero{}}, 1: {dispenseName: protocol{}}}
	for _, c := range []struct {
		plugin string
		host   map[int]goplugin.PluginSet
		agreed int
		fails  string
	}{
		{"version before", both, 0, ""},
		{"both versions", both, 1, ""},
		{"both versions", first, 0, ""},
		{"both versions", nil, 1, ""},
		{"good", both, 1, ""},
		{"version before", nil, 0, "the plugin speaks strategy protocol 0, this gateway speaks 1"},
		{"good", first, 0, "the plugin speaks strategy protocol 1, this gateway speaks 0"},
		{"next version", both, 0, "the plugin speaks strategy protocol 2, this gateway speaks 0 and 1"},
	} {
		s := spec(c.plugin, "faulty")
		s.versions = c.host
		p, err := Launch(t.Context(), s)
		if c.fails != "" {
			wantError(t, c.plugin, err, ErrInvalid, c.fails)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.plugin, err)
			continue
		}
		if got := p.Describe().Protocol; got != c.agreed {
			t.Errorf("%s: version %d was agreed, want %d", c.plugin, got, c.agreed)
		}
		i, err := p.Open(t.Context(), nil, 1, "pool")
		if err != nil {
			t.Fatal(err)
		}
		if d, err := i.RouteContext(t.Context(), request("x"), TraceContext{}); err != nil || d.Reason != "x" {
			t.Errorf("%s: %+v, %v", c.plugin, d, err)
		}
		p.Close()
	}
}
