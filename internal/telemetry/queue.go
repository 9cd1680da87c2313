package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Reasons for lost spans.
const (
	lostQueueFull = "queue_full"
	lostExport    = "export"
	lostShutdown  = "shutdown"
	lostInvalid   = "invalid"
)

// queueLimits bound a queue; both counts are >= 1.
type queueLimits struct {
	capacity, batch int
	delay           time.Duration // longest time a span waits for its batch
}

// queue is a span processor with a bounded queue in front of one exporter. The
// SDK's own batch processor does the same but does not tell how many spans it
// lost. Spans of plugins pass through it too.
type queue struct {
	exporter sdktrace.SpanExporter
	limits   queueLimits
	lost     func(reason string, n int)
	health   health

	spans chan sdktrace.ReadOnlySpan
	flush chan chan struct{}
	stop  chan struct{}
	done  chan struct{}

	// cut ends a running export, and makes later ones fail.
	exports context.Context
	cut     context.CancelFunc

	mu     sync.RWMutex // held for reading while a span is put into spans
	closed bool
}

// start begins the queue's work.
func (q *queue) start() {
	q.spans = make(chan sdktrace.ReadOnlySpan, q.limits.capacity)
	q.flush = make(chan chan struct{})
	q.stop = make(chan struct{})
	q.done = make(chan struct{})
	q.exports, q.cut = context.WithCancel(context.Background())
	go q.run()
}

// OnStart implements sdktrace.SpanProcessor.
func (q *queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd queues a sampled span, or counts it as lost. It never waits.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		q.lost(lostShutdown, 1)
		return
	}
	select {
	case q.spans <- s:
	default:
		q.lost(lostQueueFull, 1)
	}
}

// ForceFlush exports what is queued now.
func (q *queue) ForceFlush(ctx context.Context) error {
	reply := make(chan struct{})
	select {
	case q.flush <- reply:
	case <-q.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-reply:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Shutdown exports what is queued, at most until ctx ends, counts the rest as
// lost and closes the exporter.
func (q *queue) Shutdown(ctx context.Context) error {
	q.mu.Lock()
	again := q.closed
	q.closed = true
	q.mu.Unlock()
	if !again {
		close(q.stop)
	}
	defer context.AfterFunc(ctx, q.cut)()
	<-q.done
	return errors.Join(ctx.Err(), q.exporter.Shutdown(ctx))
}

func (q *queue) run() {
	defer close(q.done)
	defer q.cut()
	timer := time.NewTimer(q.limits.delay)
	defer timer.Stop()
	batch := make([]sdktrace.ReadOnlySpan, 0, q.limits.batch)
	for {
		select {
		case s := <-q.spans:
			if batch = append(batch, s); len(batch) == q.limits.batch {
				batch = q.export(batch)
			}
		case <-timer.C:
			batch = q.export(batch)
			timer.Reset(q.limits.delay)
		case reply := <-q.flush:
			batch = q.drain(batch)
			close(reply)
		case <-q.stop:
			q.drain(batch)
			return
		}
	}
}

// drain exports everything that is queued at the time of the call.
func (q *queue) drain(batch []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	for n := len(q.spans); n > 0; n-- {
		if batch = append(batch, <-q.spans); len(batch) == q.limits.batch {
			batch = q.export(batch)
		}
	}
	return q.export(batch)
}

// export sends the batch and returns it empty.
func (q *queue) export(batch []sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	if len(batch) == 0 {
		return batch
	}
	if q.exports.Err() != nil {
		q.lost(lostShutdown, len(batch))
	} else {
		err := q.exporter.ExportSpans(q.exports, batch)
		if err != nil {
			q.lost(lostExport, len(batch))
		}
		q.health.report(err)
	}
	clear(batch)
	return batch[:0]
}
