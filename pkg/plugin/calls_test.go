package plugin

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// watched is a client that fails the test at a call without deadline, and keeps
// the messages of plans. The lane, which lives as long as its instance, has none.
type watched struct {
	wire.StrategyClient
	t        *testing.T
	calls    int
	sent     []*wire.PlanRequest
	received []*wire.PlanResponse
}

func (w *watched) call(ctx context.Context, name string) {
	w.calls++
	if _, ok := ctx.Deadline(); !ok {
		w.t.Errorf("%s is called without a deadline", name)
	}
}

func (w *watched) Open(ctx context.Context, m *wire.OpenRequest, o ...grpc.CallOption) (*wire.OpenResponse, error) {
	w.call(ctx, "Open")
	return w.StrategyClient.Open(ctx, m, o...)
}

func (w *watched) Close(ctx context.Context, m *wire.CloseRequest, o ...grpc.CallOption) (*wire.CloseResponse, error) {
	w.call(ctx, "Close")
	return w.StrategyClient.Close(ctx, m, o...)
}

func (w *watched) Plan(ctx context.Context, o ...grpc.CallOption) (wire.Strategy_PlanClient, error) {
	w.call(ctx, "Plan")
	w.sent, w.received = nil, nil
	stream, err := w.StrategyClient.Plan(ctx, o...)
	return watchedPlan{stream, w}, err
}

type watchedPlan struct {
	wire.Strategy_PlanClient
	w *watched
}

func (p watchedPlan) Send(m *wire.PlanRequest) error {
	p.w.sent = append(p.w.sent, m)
	return p.Strategy_PlanClient.Send(m)
}

func (p watchedPlan) Recv() (*wire.PlanResponse, error) {
	m, err := p.Strategy_PlanClient.Recv()
	if err == nil {
		p.w.received = append(p.w.received, m)
	}
	return m, err
}

// watch puts a watched client between a process and its connection.
func watch(t *testing.T, p *Process) *watched {
	w := &watched{StrategyClient: p.rpc, t: t}
	p.rpc = w
	return w
}

func TestEveryCallHasADeadline(t *testing.T) {
	p := started(t, spec("good", "faulty"))
	w := watch(t, p)
	i, err := p.Open(t.Context(), nil, 1, "pool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Plan(router.PlanInput{}); err != nil {
		t.Error(err)
	}
	if _, err := p.Describe().Definitions[2].New(nil, 1); err != nil {
		t.Error(err)
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
	if w.calls != 4 { // two to open, one to plan, one to close
		t.Errorf("%d calls were seen, want 4", w.calls)
	}
}

// sizes of the messages of the last plan call, in bytes.
func (w *watched) sizes() (sent, received int) {
	for _, m := range w.sent {
		sent += proto.Size(m)
	}
	for _, m := range w.received {
		received += proto.Size(m)
	}
	return sent, received
}
