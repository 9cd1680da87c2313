package plugin

import (
	"errors"
	"fmt"
	"io"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// Plan reads the input in parts, has the planner work, and sends the plan in
// parts.
func (s *server) Plan(stream wire.Strategy_PlanServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	header := first.GetInput()
	plan, spans, err := s.plan(header, stream.Recv)
	if err != nil {
		return stream.Send(&wire.PlanResponse{Error: encodeError(err), Spans: spans})
	}
	if err := stream.Send(&wire.PlanResponse{Plan: wire.EncodePlan(&plan), Spans: spans}); err != nil {
		return err
	}
	for part := range wire.EncodeTable(&plan.Table) {
		if err := stream.Send(&wire.PlanResponse{Table: part}); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) plan(header *wire.PlanInput, next func() (*wire.PlanRequest, error)) (router.Plan, []*wire.Span, error) {
	if header == nil {
		return router.Plan{}, nil, tag(ErrInvalid, errors.New("the first part of a plan request is not its input"))
	}
	in, err := s.find(header.GetInstance())
	if err != nil {
		return router.Plan{}, nil, err
	}
	if in.planner == nil {
		return router.Plan{}, nil, tag(ErrUnsupported, fmt.Errorf("strategy %s does not plan", in.info.Name))
	}
	span := newSpan(header.GetTrace(), SpanPlan, in)
	input, err := readPlanInput(header, next)
	var plan router.Plan
	if err == nil {
		plan, err = in.plan(input)
	}
	if span == nil {
		return plan, nil, err
	}
	return plan, []*wire.Span{endSpan(span, err,
		number(AttrWorkers, len(input.Fleet.Workers)), number(AttrRates, len(input.Rates)),
		number(AttrKeys, len(plan.Table.Keys)), text(AttrNote, plan.Note))}, err
}

func (in *served) plan(input router.PlanInput) (router.Plan, error) {
	if !in.planning.TryLock() {
		return router.Plan{}, tag(ErrBusy, errors.New("the last plan is still being computed"))
	}
	defer in.planning.Unlock()
	plan, err := in.planner.Plan(input)
	if err != nil {
		return router.Plan{}, tag(ErrStrategy, err)
	}
	if err := plan.Validate(); err != nil {
		return router.Plan{}, tag(ErrInvalid, err)
	}
	return plan, nil
}

func readPlanInput(header *wire.PlanInput, next func() (*wire.PlanRequest, error)) (router.PlanInput, error) {
	in, err := wire.DecodePlanInput(header)
	if err != nil {
		return in, tag(ErrInvalid, err)
	}
	for {
		m, err := next()
		if err == io.EOF {
			return in, nil
		}
		if err != nil {
			return in, err
		}
		switch part := m.GetPart().(type) {
		case *wire.PlanRequest_Fleet:
			wire.DecodeFleet(part.Fleet, &in.Fleet)
		case *wire.PlanRequest_Rates:
			in.Rates, err = wire.DecodeRates(part.Rates, in.Rates)
		case *wire.PlanRequest_Previous:
			if in.Previous == nil {
				err = errors.New("rows of a previous plan that is not there")
				break
			}
			err = wire.DecodeTable(part.Previous, &in.Previous.Table)
		}
		if err != nil {
			return in, tag(ErrInvalid, err)
		}
	}
}
