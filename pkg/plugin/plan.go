package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// PlanContext makes a plan, until the context's deadline or else within
// Spec.CallTimeout. It runs beside routes; a second call while the strategy
// still computes fails with ErrBusy. The plan is well formed (Plan.Validate).
// The input is not kept.
func (i *Instance) PlanContext(ctx context.Context, in router.PlanInput, tc TraceContext) (router.Plan, error) {
	r, err := i.remote()
	if err != nil {
		return router.Plan{}, err
	}
	if !r.info.Plans {
		return router.Plan{}, r.process.failed("plan", ErrUnsupported)
	}
	ctx, cancel := within(ctx, r.process.spec.CallTimeout)
	defer cancel()
	// Leaving the call early ends the stream.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	plan, err := r.plan(ctx, &in, tc, r.keeps(in.Previous))
	if errors.Is(err, errForgotten) {
		plan, err = r.plan(ctx, &in, tc, 0)
	}
	if err != nil {
		return router.Plan{}, r.process.failed("plan", err)
	}
	return plan, nil
}

// keptTable is the table of a plan that the plugin keeps under a number.
type keptTable struct {
	number uint64
	table  router.Table
}

// keeps returns the number under which the plugin keeps the plan's table, 0 if it
// does not.
func (r *remote) keeps(p *router.Plan) uint64 {
	k := r.kept.Load()
	if k == nil || p == nil || len(p.Table.Keys) == 0 || len(p.Table.Keys) != len(k.table.Keys) || &p.Table.Keys[0] != &k.table.Keys[0] {
		return 0
	}
	return k.number
}

func (r *remote) plan(ctx context.Context, in *router.PlanInput, tc TraceContext, kept uint64) (router.Plan, error) {
	if in.Previous != nil {
		if err := in.Previous.Validate(); err != nil {
			return router.Plan{}, fmt.Errorf("%w previous plan: %w", ErrInvalid, err)
		}
	}
	stream, err := r.process.rpc.Plan(ctx)
	if err != nil {
		return router.Plan{}, callError(ctx, err)
	}
	// The end of the stream while sending means that there is an answer already.
	if err := r.sendInput(stream, in, tc, kept); err != nil && err != io.EOF {
		return router.Plan{}, callError(ctx, err)
	}
	var plan router.Plan
	var head *wire.PlanResponse
	for {
		m, err := stream.Recv()
		if err == io.EOF && head != nil {
			break
		}
		if err != nil {
			return router.Plan{}, callError(ctx, err)
		}
		if len(m.GetSpans()) > 0 {
			r.process.gotSpans(m.GetSpans())
		}
		if err := decodeError(m.GetError()); err != nil {
			return router.Plan{}, err
		}
		if err := readPlan(m, &plan, head == nil); err != nil {
			return router.Plan{}, fmt.Errorf("%w plan: %w", ErrInvalid, err)
		}
		if head == nil {
			head = m
		}
	}
	if head.GetDelta() {
		if err := undelta(&plan, in.Previous); err != nil {
			return router.Plan{}, fmt.Errorf("%w plan: %w", ErrInvalid, err)
		}
	}
	if err := plan.Validate(); err != nil {
		return router.Plan{}, tag(ErrInvalid, err)
	}
	if head.GetKept() > 0 {
		r.kept.Store(&keptTable{head.GetKept(), plan.Table})
	}
	return plan, nil
}

// undelta replaces the plan's table, which are changes to the previous one's.
func undelta(plan, previous *router.Plan) (err error) {
	if previous == nil || !slices.Equal(previous.Workers, plan.Workers) {
		return errors.New("its table are changes to that of another plan than the previous one")
	}
	plan.Table, err = wire.Apply(&previous.Table, &plan.Table)
	return err
}

func readPlan(m *wire.PlanResponse, plan *router.Plan, first bool) (err error) {
	if first != (m.GetPlan() != nil) {
		return errors.New("its first part, and no other, must be its header")
	}
	if first {
		if *plan, err = wire.DecodePlan(m.GetPlan()); err != nil {
			return err
		}
	}
	return wire.DecodeTable(m.GetTable(), &plan.Table)
}

func (r *remote) sendInput(stream wire.Strategy_PlanClient, in *router.PlanInput, tc TraceContext, kept uint64) error {
	header := wire.EncodePlanInput(in)
	header.Instance, header.Trace, header.Kept = r.id, encodeTrace(tc), kept
	if err := stream.Send(&wire.PlanRequest{Part: &wire.PlanRequest_Input{Input: header}}); err != nil {
		return err
	}
	for part := range wire.EncodeFleet(in.Fleet.Workers) {
		if err := stream.Send(&wire.PlanRequest{Part: &wire.PlanRequest_Fleet{Fleet: part}}); err != nil {
			return err
		}
	}
	for part := range wire.EncodeRates(in.Rates) {
		if err := stream.Send(&wire.PlanRequest{Part: &wire.PlanRequest_Rates{Rates: part}}); err != nil {
			return err
		}
	}
	if in.Previous != nil && kept == 0 {
		for part := range wire.EncodeTable(&in.Previous.Table) {
			if err := stream.Send(&wire.PlanRequest{Part: &wire.PlanRequest_Previous{Previous: part}}); err != nil {
				return err
			}
		}
	}
	return stream.CloseSend()
}
