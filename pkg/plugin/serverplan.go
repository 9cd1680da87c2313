package plugin

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

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
	plan, err := s.plan(first.GetInput(), stream.Recv)
	if err != nil {
		return stream.Send(&wire.PlanResponse{Error: encodeError(err), Spans: plan.spans})
	}
	head, table := plan.answer()
	if err := stream.Send(head); err != nil {
		return err
	}
	for part := range wire.EncodeTable(table) {
		if err := stream.Send(&wire.PlanResponse{Table: part}); err != nil {
			return err
		}
	}
	plan.in.kept.keep(head.Kept, plan.made.Table)
	return nil
}

// planned is one plan call's work.
type planned struct {
	in       *served
	previous *router.Plan
	made     router.Plan
	spans    []*wire.Span
}

// answer returns the first message and the table to send: the changes to the
// previous table if they are few.
func (p *planned) answer() (*wire.PlanResponse, *router.Table) {
	m := &wire.PlanResponse{Plan: wire.EncodePlan(&p.made), Spans: p.spans, Kept: p.in.kept.next()}
	if p.previous != nil && slices.Equal(p.previous.Workers, p.made.Workers) {
		if delta, ok := wire.Delta(&p.previous.Table, &p.made.Table); ok {
			m.Delta = true
			return m, &delta
		}
	}
	return m, &p.made.Table
}

// kept is the table of an instance's last plan, which the host need not send
// back. It is no memory of the strategy's: without it the host sends the table.
type kept struct {
	mu     sync.Mutex
	last   uint64
	number uint64 // of the table; 0: there is none
	table  router.Table
}

// next returns the number of a new table.
func (k *kept) next() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last++
	return k.last
}

func (k *kept) keep(number uint64, table router.Table) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.number, k.table = number, table
}

// find returns the table of that number.
func (k *kept) find(number uint64) (router.Table, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if number != k.number {
		return router.Table{}, tag(errForgotten, fmt.Errorf("plan %d is not kept here", number))
	}
	return k.table, nil
}

func (s *server) plan(header *wire.PlanInput, next func() (*wire.PlanRequest, error)) (p planned, err error) {
	if header == nil {
		return p, tag(ErrInvalid, errors.New("the first part of a plan request is not its input"))
	}
	if p.in, err = s.find(header.GetInstance()); err != nil {
		return p, err
	}
	if p.in.planner == nil {
		return p, tag(ErrUnsupported, fmt.Errorf("strategy %s does not plan", p.in.info.Name))
	}
	span := newSpan(header.GetTrace(), SpanPlan, p.in)
	input, err := p.in.readPlanInput(header, next)
	if err == nil {
		p.previous = input.Previous
		p.made, err = p.in.plan(input)
	}
	if span != nil {
		p.spans = []*wire.Span{endSpan(span, err,
			number(AttrWorkers, len(input.Fleet.Workers)), number(AttrRates, len(input.Rates)),
			number(AttrKeys, len(p.made.Table.Keys)), text(AttrNote, p.made.Note))}
	}
	return p, err
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

func (s *served) readPlanInput(header *wire.PlanInput, next func() (*wire.PlanRequest, error)) (router.PlanInput, error) {
	in, err := wire.DecodePlanInput(header)
	if err == nil && header.GetKept() > 0 && in.Previous == nil {
		err = errors.New("a kept table of a previous plan that is not there")
	}
	if err != nil {
		return in, tag(ErrInvalid, err)
	}
	if header.GetKept() > 0 {
		if in.Previous.Table, err = s.kept.find(header.GetKept()); err != nil {
			return in, err
		}
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
			if in.Previous == nil || header.GetKept() > 0 {
				err = errors.New("rows of a previous plan that is not there, or is kept")
				break
			}
			err = wire.DecodeTable(part.Previous, &in.Previous.Table)
		}
		if err != nil {
			return in, tag(ErrInvalid, err)
		}
	}
}
