package plugin

import (
	"errors"
	"fmt"
	"time"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// answerWithin bounds how long a finished answer waits for the rest of its batch.
const answerWithin = 500 * time.Microsecond

// Lane works off an instance's tasks, one after the other.
func (s *server) Lane(stream wire.Strategy_LaneServer) error {
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	in, err := s.find(m.GetInstance())
	if err == nil && !in.lane.TryLock() {
		err = tag(ErrBusy, fmt.Errorf("instance %d has a lane already", in.id))
	}
	if err != nil {
		return stream.Send(&wire.LaneResponse{Error: encodeError(err)})
	}
	defer in.lane.Unlock()
	if err := stream.Send(&wire.LaneResponse{}); err != nil { // it is open
		return err
	}
	l := laneServer{in: in, send: stream.Send}
	for ; err == nil; m, err = stream.Recv() {
		if err := l.work(m.GetTasks()); errors.Is(err, ErrInvalid) {
			return stream.Send(&wire.LaneResponse{Error: encodeError(err)})
		} else if err != nil {
			return err
		}
	}
	return nil // the host has ended the stream
}

// laneServer is the plugin's end of one lane.
type laneServer struct {
	in      *served
	send    func(*wire.LaneResponse) error
	workers []router.Worker // the table, by slot
	writes  uint64          // to the table
	show    []router.Worker // the eligible ones of the route at work
	sent    time.Time
}

func (l *laneServer) work(tasks []*wire.Task) error {
	m := &wire.LaneResponse{}
	l.sent = time.Now()
	for i, task := range tasks {
		switch w := task.GetWork().(type) {
		case *wire.Task_Table:
			if err := l.write(w.Table); err != nil {
				return tag(ErrInvalid, err)
			}
		case *wire.Task_Observe:
			if l.in.observer != nil {
				l.in.observer.Observe(wire.DecodeEvents(w.Observe))
			}
		case *wire.Task_Route:
			m.Answers = append(m.Answers, l.route(w.Route, &m.Spans))
		}
		if len(m.Answers) > 0 && (i == len(tasks)-1 || time.Since(l.sent) > answerWithin) {
			if err := l.send(m); err != nil {
				return err
			}
			m, l.sent = &wire.LaneResponse{}, time.Now()
		}
	}
	return nil
}

// write follows one write to the table. One that is missing, or that leaves slots
// out, would make all later answers wrong.
func (l *laneServer) write(t *wire.TableWrite) error {
	if l.writes++; t.GetNumber() != l.writes {
		return fmt.Errorf("write %d to the table of workers where write %d is due", t.GetNumber(), l.writes)
	}
	if t.GetClear() {
		l.workers = l.workers[:0]
	}
	for _, s := range t.GetSlots() {
		switch slot, n := s.GetSlot(), uint32(len(l.workers)); {
		case slot < n:
			l.workers[slot] = wire.DecodeWorker(s.GetWorker())
		case slot == n:
			l.workers = append(l.workers, wire.DecodeWorker(s.GetWorker()))
		default:
			return fmt.Errorf("slot %d of the table of workers, which has %d", slot, n)
		}
	}
	return nil
}

func (l *laneServer) route(m *wire.RouteTask, spans *[]*wire.Span) *wire.Answer {
	span := newSpan(m.GetTrace(), SpanRoute, l.in)
	d, err := l.decide(m)
	if span != nil {
		*spans = append(*spans, endSpan(span, err, number(AttrWorkers, len(l.show)),
			text(AttrVerdict, verdictName(d.Verdict)), text(AttrReason, d.Reason)))
	}
	if err != nil {
		return &wire.Answer{Id: m.GetId(), Error: encodeError(err)}
	}
	return &wire.Answer{Id: m.GetId(), Decision: wire.EncodeDecision(d)}
}

func (l *laneServer) decide(m *wire.RouteTask) (router.Decision, error) {
	if err := l.pick(m); err != nil {
		return router.Decision{}, tag(ErrInvalid, err)
	}
	if l.in.strategy == nil {
		return router.Decision{}, tag(ErrUnsupported, fmt.Errorf("strategy %s does not route single requests", l.in.info.Name))
	}
	in := wire.DecodeRoute(m)
	in.Workers = l.show
	return l.in.strategy.Route(in), nil
}

// pick brings the table up to date and shows the route's eligible workers.
func (l *laneServer) pick(m *wire.RouteTask) error {
	l.show = l.show[:0]
	for _, c := range m.GetLoads() {
		if int(c.GetSlot()) >= len(l.workers) {
			return fmt.Errorf("load of slot %d of %d", c.GetSlot(), len(l.workers))
		}
		load := &l.workers[c.GetSlot()].Load
		load.InFlight, load.QueuedTokens, load.WorkingSet = int(c.GetInFlight()), int(c.GetQueuedTokens()), int(c.GetWorkingSet())
		if c.GetGauges() != nil {
			wire.DecodeGauges(c.GetGauges(), load)
		}
	}
	if len(m.GetEligible()) == 0 {
		l.show = append(l.show, l.workers...)
	}
	for _, slot := range m.GetEligible() {
		if int(slot) >= len(l.workers) {
			return fmt.Errorf("eligible slot %d of %d", slot, len(l.workers))
		}
		l.show = append(l.show, l.workers[slot])
	}
	if len(l.show) == 0 {
		return errors.New("a route without eligible workers")
	}
	ages := m.GetPeersAge()
	if n := len(ages); n > 1 && n != len(l.show) {
		return fmt.Errorf("%d peers' ages for %d workers", n, len(l.show))
	}
	for i := range l.show {
		switch len(ages) {
		case 0:
			l.show[i].Load.PeersAge = 0
		case 1:
			l.show[i].Load.PeersAge = time.Duration(ages[0])
		default:
			l.show[i].Load.PeersAge = time.Duration(ages[i])
		}
	}
	return nil
}
