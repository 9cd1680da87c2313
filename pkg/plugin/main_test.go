package plugin

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"gatewayd/pkg/plugin/internal/teststrategy"
	"gatewayd/pkg/plugin/wire"
)

// envHost makes the test binary a host that launches one plugin and waits.
const envHost = "GATEWAYD_TEST_HOST"

// envByHand makes it a plugin that no host has started.
const envByHand = "GATEWAYD_TEST_BY_HAND"

// The test binary is also the executable of the plugins that it launches.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(handshake().MagicCookieKey) != "":
		pluginMain(os.Args[1])
	case os.Getenv(envHost) != "":
		hostMain()
	case os.Getenv(envByHand) != "":
		Serve(teststrategy.Definitions()...)
	default:
		goleak.VerifyTestMain(m)
	}
}

// pluginMain is a plugin of the kind that the argument names.
func pluginMain(kind string) {
	serveAll := func(versions map[int]goplugin.PluginSet, cookie string) {
		h := handshake()
		h.MagicCookieValue = cookie
		goplugin.Serve(&goplugin.ServeConfig{HandshakeConfig: h, VersionedPlugins: versions, GRPCServer: goplugin.DefaultGRPCServer})
	}
	serve := func(version int, cookie string, s wire.StrategyServer) {
		serveAll(map[int]goplugin.PluginSet{version: {dispenseName: protocol{server: s}}}, cookie)
	}
	good, err := newServer(teststrategy.Definitions())
	if err != nil {
		panic(err)
	}
	switch kind {
	case "good":
		Serve(teststrategy.Definitions()...)
	case "noisy":
		fmt.Println("hello from an author's init")
		Serve(teststrategy.Definitions()...)
	case "version before":
		serveAll(map[int]goplugin.PluginSet{0: {dispenseName: zero{StrategyServer: good}}}, handshake().MagicCookieValue)
	case "both versions":
		serveAll(map[int]goplugin.PluginSet{0: {dispenseName: zero{StrategyServer: good}}, 1: {dispenseName: protocol{server: good}}}, handshake().MagicCookieValue)
	case "next version":
		serve(2, handshake().MagicCookieValue, good)
	case "other cookie":
		serve(1, "other", good)
	case "not a strategy":
		serve(1, handshake().MagicCookieValue, wire.UnimplementedStrategyServer{})
	case "wrong":
		serve(1, handshake().MagicCookieValue, wrongServer{})
	case "garbage", "mute":
		l, err := net.Listen("unix", filepath.Join(os.Getenv(envDir), "socket"))
		if err != nil {
			panic(err)
		}
		fmt.Printf("1|1|unix|%s|grpc\n", l.Addr())
		for {
			conn, err := l.Accept()
			if err != nil {
				panic(err)
			}
			if kind == "garbage" {
				fmt.Fprint(conn, "HTTP/1.0 200 OK\r\n\r\nI am a teapot")
				conn.Close()
			} else {
				fmt.Fprintln(os.Stderr, "its time is up")
			}
		}
	}
}

// hostMain launches a plugin, says so, and waits to be killed.
func hostMain() {
	p, err := Launch(context.Background(), spec("good", ""))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.Pid())
	fmt.Println(p.dir.path)
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
}

// wrongServer speaks the protocol, but answers what no host should believe.
// Which answer, the pool of the opened instance says.
type wrongServer struct {
	wire.UnimplementedStrategyServer
}

func (wrongServer) Describe(context.Context, *wire.DescribeRequest) (*wire.DescribeResponse, error) {
	return &wire.DescribeResponse{Protocol: 1, Definitions: []*wire.Definition{{Name: "wrong"}}}, nil
}

func (wrongServer) Open(_ context.Context, m *wire.OpenRequest) (*wire.OpenResponse, error) {
	info := &wire.Info{Routes: true, Plans: true}
	if m.GetPool() == "events" {
		info.Observes = []wire.EventKind{99}
	}
	return &wire.OpenResponse{Instance: 1, Info: info}, nil
}

func (wrongServer) Close(context.Context, *wire.CloseRequest) (*wire.CloseResponse, error) {
	return &wire.CloseResponse{}, nil
}

func (wrongServer) Lane(stream grpc.BidiStreamingServer[wire.LaneRequest, wire.LaneResponse]) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		if m.GetInstance() > 0 {
			if err := stream.Send(&wire.LaneResponse{}); err != nil {
				return err
			}
		}
		for _, t := range m.GetTasks() {
			if t.GetRoute() == nil {
				continue
			}
			a := &wire.Answer{Id: t.GetRoute().GetId()}
			switch t.GetRoute().GetRequest().GetId() {
			case "roles":
				a.Decision = &wire.Decision{Workers: []uint32{0, 1}, Roles: []wire.Role{1}}
			case "role":
				a.Decision = &wire.Decision{Workers: []uint32{0}, Roles: []wire.Role{7}}
			case "ranks":
				a.Decision = &wire.Decision{Workers: []uint32{0, 1}, Ranks: []uint32{1}}
			case "guard":
				a.Decision = &wire.Decision{Hold: &wire.Hold{Guard: &wire.Guard{Of: 77}}}
			case "error":
				a.Error = &wire.Error{Code: 55, Message: "a code of the future"}
			case "other id":
				a.Id += 1000
			case "end":
				return nil
			}
			if err := stream.Send(&wire.LaneResponse{Answers: []*wire.Answer{a, a}}); err != nil {
				return err
			}
		}
	}
}

func (wrongServer) Plan(stream grpc.BidiStreamingServer[wire.PlanRequest, wire.PlanResponse]) error {
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	send := func(parts ...*wire.PlanResponse) error {
		for _, part := range parts {
			if err := stream.Send(part); err != nil {
				return err
			}
		}
		return nil
	}
	head := func(p *wire.Plan) *wire.PlanResponse { return &wire.PlanResponse{Plan: p} }
	rows := func(t *wire.PlanTable) *wire.PlanResponse { return &wire.PlanResponse{Table: t} }
	two := []*wire.WorkerRef{{Id: "a"}, {Id: "b"}}
	switch m.GetInput().GetPool() {
	case "no header":
		return send(rows(&wire.PlanTable{}))
	case "two headers":
		return send(head(&wire.Plan{}), head(&wire.Plan{}))
	case "order":
		return send(head(&wire.Plan{Rest: &wire.Rest{Order: 9}}))
	case "feature":
		return send(head(&wire.Plan{Rest: &wire.Rest{Cost: []*wire.Term{{Feature: 99}}}}))
	case "nan":
		return send(head(&wire.Plan{Workers: two, Rest: &wire.Rest{Cost: []*wire.Term{{Weights: []float64{0, nan}}}}}))
	case "among":
		return send(head(&wire.Plan{Workers: two, Rest: &wire.Rest{Among: []uint32{2}}}))
	case "wide among":
		return send(head(&wire.Plan{Workers: two, Rest: &wire.Rest{Among: []uint32{1 << 16}}}))
	case "member":
		return send(head(&wire.Plan{Workers: two}), rows(&wire.PlanTable{Keys: []uint64{1}, Counts: []uint32{1}, Members: []uint32{2}}))
	case "wide member":
		return send(head(&wire.Plan{Workers: two}), rows(&wire.PlanTable{Keys: []uint64{1}, Counts: []uint32{1}, Members: []uint32{1 << 16}}))
	case "delta":
		return send(&wire.PlanResponse{Plan: &wire.Plan{}, Delta: true})
	case "counts":
		return send(head(&wire.Plan{Workers: two}), rows(&wire.PlanTable{Keys: []uint64{1}, Members: []uint32{1}}))
	case "too many":
		return send(head(&wire.Plan{Workers: two}), rows(&wire.PlanTable{Keys: []uint64{1}, Counts: []uint32{1 << 31}, Members: []uint32{1}}))
	case "too few":
		return send(head(&wire.Plan{Workers: two}), rows(&wire.PlanTable{Keys: []uint64{1}, Counts: []uint32{1}, Members: []uint32{1, 1}}))
	}
	return nil // an empty answer
}
