package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"gatewayd/pkg/plugin/wire"
	"gatewayd/pkg/router"
)

// Bounds of what waits in a lane for the plugin.
const (
	maxPending   = 4096     // tasks
	pendingBytes = 64 << 20 // roughly
	messageBytes = 1 << 20  // in one message, roughly
)

// lane is the host's end of an instance's stream. Tasks that come while a
// message is under way travel together in the next one.
type lane struct {
	broken func(error) // told once why the stream ended, unless it was closed
	spans  func([]*wire.Span)
	cancel context.CancelFunc

	mu      sync.Mutex
	table   table
	pending []pending
	bytes   int
	last    uint64
	waiting map[uint64]chan *wire.Answer
	err     error // set when the stream has ended

	wake  chan struct{}
	ended sync.WaitGroup
}

// pending is a task that waits for the next message, with its rough size.
type pending struct {
	task  *wire.Task
	bytes int
}

// openLane opens the stream of an instance; the context bounds only that.
func openLane(ctx context.Context, rpc wire.StrategyClient, instance uint64, spans func([]*wire.Span), broken func(error)) (*lane, error) {
	life, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	stream, err := greet(life, rpc, instance)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		cancel()
		return nil, callError(ctx, err)
	}
	l := &lane{
		broken: broken, spans: spans, cancel: cancel,
		waiting: map[uint64]chan *wire.Answer{},
		wake:    make(chan struct{}, 1),
	}
	l.ended.Go(func() { l.write(life, stream) })
	l.ended.Go(func() { l.read(life, stream) })
	return l, nil
}

// greet names the instance and waits for the plugin's first, empty answer.
func greet(life context.Context, rpc wire.StrategyClient, instance uint64) (wire.Strategy_LaneClient, error) {
	stream, err := rpc.Lane(life)
	if err != nil {
		return nil, err
	}
	if err := stream.Send(&wire.LaneRequest{Instance: instance}); err != nil && err != io.EOF {
		return nil, err
	}
	m, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	return stream, decodeError(m.GetError())
}

// route sends one route and waits for its answer.
func (l *lane) route(ctx context.Context, in *router.Input, tc TraceContext) (*wire.Answer, error) {
	task := wire.EncodeRoute(in)
	task.Trace = encodeTrace(tc)
	bytes := 64 + 8*len(in.Request.Blocks) + 4*len(in.Cached) + 4*len(in.Workers)
	for _, f := range in.Facts {
		bytes += len(f.Value)
	}
	answer := make(chan *wire.Answer, 1)

	l.mu.Lock()
	if err := l.room(bytes); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	if write := l.table.prepare(in, task); write != nil {
		l.append(&wire.Task{Work: &wire.Task_Table{Table: write}}, 300*len(write.Slots))
	}
	l.last++
	task.Id = l.last
	l.waiting[task.Id] = answer
	l.append(&wire.Task{Work: &wire.Task_Route{Route: task}}, bytes)
	l.mu.Unlock()
	l.signal()

	select {
	case a := <-answer:
		if a == nil {
			return nil, l.failure()
		}
		return a, nil
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.waiting, task.Id)
		l.mu.Unlock()
		return nil, callError(ctx, ctx.Err())
	}
}

// observe sends events, in order with the routes; there is no answer.
func (l *lane) observe(events []router.Event) error {
	task := &wire.Task{Work: &wire.Task_Observe{Observe: wire.EncodeEvents(events)}}
	bytes := 128 * len(events)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.room(bytes); err != nil {
		return err
	}
	l.append(task, bytes)
	l.signal()
	return nil
}

func (l *lane) room(bytes int) error {
	if l.err != nil {
		return l.err
	}
	if bytes > maxMessage/2 {
		return tag(ErrInvalid, fmt.Errorf("a task of about %d bytes, at most %d are allowed", bytes, maxMessage/2))
	}
	if len(l.pending) >= maxPending || l.bytes > 0 && l.bytes+bytes > pendingBytes {
		return tag(ErrBusy, fmt.Errorf("%d tasks wait for the plugin", len(l.pending)))
	}
	return nil
}

func (l *lane) append(task *wire.Task, bytes int) {
	l.pending = append(l.pending, pending{task, bytes})
	l.bytes += bytes
}

func (l *lane) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *lane) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// write sends what has gathered, one message after the other. Callers that can
// run add their tasks first; no timer makes anyone wait.
func (l *lane) write(ctx context.Context, stream wire.Strategy_LaneClient) {
	for {
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
		runtime.Gosched()
		for tasks := l.take(); len(tasks) > 0; tasks = l.take() {
			if stream.Send(&wire.LaneRequest{Tasks: tasks}) != nil {
				return // the reader learns why
			}
		}
	}
}

// take returns the tasks of the next message.
func (l *lane) take() []*wire.Task {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, bytes := 0, 0
	for n < len(l.pending) && (n == 0 || bytes+l.pending[n].bytes <= messageBytes) {
		bytes += l.pending[n].bytes
		n++
	}
	tasks := make([]*wire.Task, n)
	for i := range tasks {
		tasks[i] = l.pending[i].task
	}
	rest := copy(l.pending, l.pending[n:])
	clear(l.pending[rest:])
	l.pending, l.bytes = l.pending[:rest], l.bytes-bytes
	return tasks
}

// read hands the answers to those who wait for them; an answer that nobody
// waits for any more has no effect.
func (l *lane) read(ctx context.Context, stream wire.Strategy_LaneClient) {
	for {
		m, err := stream.Recv()
		if err == nil {
			err = decodeError(m.GetError())
		} else {
			err = callError(ctx, err)
		}
		if err != nil {
			l.end(err)
			return
		}
		l.mu.Lock()
		for _, a := range m.GetAnswers() {
			if answer, ok := l.waiting[a.GetId()]; ok {
				delete(l.waiting, a.GetId())
				answer <- a
			}
		}
		l.mu.Unlock()
		if len(m.GetSpans()) > 0 {
			l.spans(m.GetSpans())
		}
	}
}

// end fails all that waits and, unless the lane was closed, reports why.
func (l *lane) end(err error) {
	l.cancel()
	l.mu.Lock()
	closed := l.err != nil
	if !closed {
		l.err = err
	}
	for id, answer := range l.waiting {
		delete(l.waiting, id)
		answer <- nil
	}
	l.pending, l.bytes = nil, 0
	l.mu.Unlock()
	if !closed {
		l.broken(err)
	}
}

// close ends the stream; calls under way fail with ErrDown.
func (l *lane) close() {
	l.mu.Lock()
	if l.err == nil {
		l.err = tag(ErrDown, errors.New("the instance is closed"))
	}
	l.mu.Unlock()
	l.cancel()
	l.ended.Wait()
}
