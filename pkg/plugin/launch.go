package plugin

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	pluginrunner "github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// Bounds of the channel between host and plugin. The window is what may lie
// unread in one direction of one stream.
const (
	maxMessage   = 64 << 20
	streamWindow = 1 << 20
	connWindow   = 8 << 20
)

// Launch starts the process and returns when it has described itself. The
// context and Spec.StartTimeout bound the start only. The error is a
// *StartError when the executable is to blame; then nothing is left running.
func Launch(ctx context.Context, spec Spec) (*Process, error) {
	spec, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	return launch(ctx, spec)
}

// launch is Launch for a spec with its defaults.
func launch(ctx context.Context, spec Spec) (*Process, error) {
	ctx, cancel := context.WithTimeout(ctx, spec.StartTimeout)
	defer cancel()
	dir, err := newTempDir()
	if err != nil {
		return nil, err
	}
	p := &Process{spec: spec, dir: dir, done: make(chan struct{})}
	if err := p.start(ctx); err != nil {
		p.kill(nil)
		p.release()
		return nil, err
	}
	spec.Logger.Info("plugin started", "pid", p.Pid(), "path", spec.Path)
	go func() {
		<-p.runner.exited
		p.logEnd()
		p.release()
	}()
	return p, nil
}

func (p *Process) start(ctx context.Context) error {
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: p.spec.versions,
		AutoMTLS:         p.spec.MTLS,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (pluginrunner.Runner, error) {
			p.runner = newRunner(ctx, &p.spec, p.dir.path, cmd.Env)
			return p.runner, nil
		},
		StartTimeout:     p.spec.StartTimeout,
		SkipHostEnv:      true,
		Logger:           hclog.NewNullLogger(),
		SyncStdout:       &output{log: p.spec.Logger.With("stream", "stdout"), tail: &tail{}},
		SyncStderr:       &output{log: p.spec.Logger, tail: &tail{}},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: p.dir.path},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
			grpc.WithInitialWindowSize(streamWindow),
			grpc.WithInitialConnWindowSize(connWindow),
		},
	})
	if _, err := p.client.Start(); err != nil {
		return err
	}
	// Connecting has no deadline of its own; the end of the process ends it.
	stop := context.AfterFunc(ctx, func() { p.kill(nil) })
	defer stop()
	if err := p.connect(ctx); err != nil {
		p.kill(nil)
		<-p.runner.exited
		return p.runner.failed(err, "the plugin's process runs but does not serve strategies; see its log lines")
	}
	return nil
}

func (p *Process) connect(ctx context.Context) error {
	client, err := p.client.Client()
	if err != nil {
		return fmt.Errorf("connect: %w", callError(ctx, err))
	}
	rpc, err := client.Dispense(dispenseName)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	p.rpc = rpc.(wire.StrategyClient)
	m, err := p.rpc.Describe(ctx, &wire.DescribeRequest{})
	if err != nil {
		return fmt.Errorf("describe: %w", callError(ctx, err))
	}
	if err := decodeError(m.GetError()); err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	if v, agreed := int(m.GetProtocol()), p.client.NegotiatedVersion(); v != agreed {
		return fmt.Errorf("%w version: the plugin agreed to strategy protocol %d and describes %d", ErrInvalid, agreed, v)
	}
	p.about = Description{Protocol: int(m.GetProtocol()), FeatureVersion: int(m.GetFeatureVersion())}
	for _, d := range m.GetDefinitions() {
		p.about.Definitions = append(p.about.Definitions, p.define(wire.DecodeDefinition(d)))
	}
	if len(p.about.Definitions) == 0 {
		return fmt.Errorf("%w description: it serves no strategy", ErrInvalid)
	}
	return nil
}

func (p *Process) define(d router.Definition) router.Definition {
	d.New = func(o router.Options, seed uint64) (router.Instance, error) {
		r, err := p.open(context.Background(), opening{d.Name, o, seed, ""})
		if err != nil {
			return nil, err
		}
		return newInstance(opening{d.Name, o, seed, ""}, r, nil), nil
	}
	return d
}
