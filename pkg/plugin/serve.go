package plugin

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// Serve serves the strategies to the host that started this process, and
// returns when the host is done with it or gone. It is all that an author's
// main calls.
//
// Print nothing to standard output before the call. What the process writes to
// standard error, and later to standard output, reaches the host's log: lines of
// hclog's or slog's JSON format with their level, a panic at level error, others
// at level info.
// Signals that ask a process to end are ignored: the host decides.
//
// A process that was not started by a host prints what it is and exits with
// code 2, as it does when a definition is unusable.
func Serve(definitions ...router.Definition) {
	h := handshake()
	if os.Getenv(h.MagicCookieKey) != h.MagicCookieValue {
		var names []string
		for _, d := range definitions {
			names = append(names, d.Name)
		}
		fail("this executable serves the routing strategies %s to gatewayd, which starts it; "+
			"give its path to gatewayd or benchlab, or put it into a plugin directory", strings.Join(names, ", "))
	}
	s, err := newServer(definitions)
	if err != nil {
		fail("%v", err)
	}
	// Not even the loss of the host's end of the output may end the process
	// before it has cleaned up.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	prints := keepOutput()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  h,
		VersionedPlugins: map[int]goplugin.PluginSet{Protocol: {dispenseName: protocol{server: s}}},
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			server := grpc.NewServer(append(o, grpc.UnaryInterceptor(prints),
				grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
				grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connWindow))...)
			go watchHost(server)
			return server
		},
	})
	clean()
}

// keepOutput returns an interceptor that gives os.Stdout and os.Stderr back
// before a strategy is opened. go-plugin has replaced them by streams of its
// own, which lose what is printed last; the host reads the real ones to their end.
func keepOutput() grpc.UnaryServerInterceptor {
	stdout, stderr := os.Stdout, os.Stderr
	var once sync.Once
	return func(ctx context.Context, m any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		once.Do(func() { os.Stdout, os.Stderr = stdout, stderr })
		return handle(ctx, m)
	}
}

// watchHost stops the server at the end of standard input: the host has closed
// it, or has died. A main that does not return then is ended.
func watchHost(server *grpc.Server) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	time.AfterFunc(time.Second, func() { clean(); os.Exit(0) })
	server.Stop()
}

// clean removes the private directory that the host made for this process: the
// host may not be there to do it.
func clean() {
	dir := os.Getenv(envDir)
	if strings.HasPrefix(filepath.Base(dir), dirPrefix) {
		_ = os.RemoveAll(dir)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(2)
}

// protocol is the strategy service as go-plugin wants to see it: with a server
// in the plugin, without one in the host.
type protocol struct {
	goplugin.NetRPCUnsupportedPlugin
	server wire.StrategyServer
}

// GRPCServer registers the service; go-plugin calls it in the plugin.
func (p protocol) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	wire.RegisterStrategyServer(s, p.server)
	return nil
}

// GRPCClient makes a client of the service; go-plugin calls it in the host.
func (p protocol) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return wire.NewStrategyClient(conn), nil
}
