package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"gatewayd/pkg/plugin/wire"
)

// hostileStrategy makes the test binary a plugin that speaks the protocol and
// answers what no gateway should believe.
const hostileStrategy = "hostile-strategy"

// hostileAnswers are what hostile plugins answer to a route, by name. Two others
// pass: "leaks" remembers all requests, and "stays" does not end with its host.
var hostileAnswers = map[string]*wire.Decision{
	"unknown-workers": {Verdict: wire.Verdict_VERDICT_ROUTE, Workers: []uint32{7}},
	"many-workers":    {Verdict: wire.Verdict_VERDICT_ROUTE, Workers: make([]uint32, 1000)},
	"nan-scores":      {Verdict: wire.Verdict_VERDICT_ROUTE, Hold: nanHold()},
	"empty-answer":    nil,
	"hundred-mb":      {Reason: strings.Repeat("x", 100<<20)},
	"nan-hold":        {Verdict: wire.Verdict_VERDICT_ROUTE, Workers: []uint32{0}, Hold: nanHold()},
	"garbage":         {Reason: "garbage"},
	"nothing":         {Reason: "nothing"},
}

func nanHold() *wire.Hold {
	return &wire.Hold{Ttl: 1e9, Guard: &wire.Guard{Of: wire.Feature_FEATURE_IN_FLIGHT, Factor: math.NaN()}}
}

// serveHostile is the main of a hostile plugin.
func serveHostile(how string) {
	socket := filepath.Join(os.Getenv("GATEWAYD_PLUGIN_DIR"), "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(hostileCodec{}))
	wire.RegisterStrategyServer(server, hostileServer{how: how})
	fmt.Printf("1|1|unix|%s|grpc\n", socket)
	go server.Serve(l)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if how == "stays" {
		select {}
	}
	os.Exit(0)
}

// hostileCodec writes bytes that are no message where garbage is to be said.
type hostileCodec struct{}

func (hostileCodec) Name() string { return "proto" }

func (hostileCodec) Unmarshal(b []byte, m any) error { return proto.Unmarshal(b, m.(proto.Message)) }

func (hostileCodec) Marshal(m any) ([]byte, error) {
	if r, ok := m.(*wire.LaneResponse); ok && len(r.GetAnswers()) > 0 && r.GetAnswers()[0].GetDecision().GetReason() == "garbage" {
		return []byte("\xff\xff\xff\xff these are not the bytes of any message"), nil
	}
	return proto.Marshal(m.(proto.Message))
}

type hostileServer struct {
	wire.UnimplementedStrategyServer
	how string
}

func (s hostileServer) Describe(context.Context, *wire.DescribeRequest) (*wire.DescribeResponse, error) {
	return &wire.DescribeResponse{Protocol: 1, FeatureVersion: 2, Definitions: []*wire.Definition{{Name: s.how, Version: "1", Summary: "It lies."}}}, nil
}

func (s hostileServer) Open(context.Context, *wire.OpenRequest) (*wire.OpenResponse, error) {
	return &wire.OpenResponse{Instance: 1, Info: &wire.Info{Name: s.how, Version: "1", Routes: true}}, nil
}

func (hostileServer) Close(context.Context, *wire.CloseRequest) (*wire.CloseResponse, error) {
	return &wire.CloseResponse{}, nil
}

func (s hostileServer) Lane(stream grpc.BidiStreamingServer[wire.LaneRequest, wire.LaneResponse]) error {
	var kept [][]byte
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
		for _, task := range m.GetTasks() {
			if task.GetRoute() == nil || s.how == "nothing" {
				continue
			}
			if s.how == "leaks" {
				kept = append(kept, bytes.Repeat([]byte{byte(len(kept))}, 4096))
			}
			a := &wire.Answer{Id: task.GetRoute().GetId(), Decision: hostileAnswers[s.how]}
			if err := stream.Send(&wire.LaneResponse{Answers: []*wire.Answer{a}}); err != nil {
				return err
			}
		}
	}
}
