package record

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"gatewayd/internal/config"
	"gatewayd/internal/telemetry"
	"gatewayd/pkg/record"
)

const (
	// queued is how many requests may wait to be written.
	queued = 4096
	// queuedBlocks is how many block ids all of them may hold: 32 MiB.
	queuedBlocks = 4 << 20
	// flushEvery is how old what was not written yet may become.
	flushEvery = time.Second
)

// Options sets up a Recorder. All fields are required.
type Options struct {
	Config     config.Record
	Salt       record.Salt
	BlockBytes int // bytes of prompt text that one block stands for
	Metrics    *telemetry.Metrics
	Logger     hclog.Logger
}

// Recorder writes requests down. It is safe for concurrent use.
type Recorder struct {
	o     Options
	start time.Time
	files *files

	queue   chan *Entry
	blocks  atomic.Int64 // ids in the queue
	dropped atomic.Int64 // requests that were not queued and that no line tells of yet
	ids     []uint64     // the writer's own

	once    sync.Once
	closing chan struct{}
	done    chan struct{}
}

// Open opens the file, for the owner only, and starts to write. A file that is
// there already is put aside like a full one. Close ends it.
func Open(o Options) (*Recorder, error) {
	r := &Recorder{
		o: o, start: time.Now(), queue: make(chan *Entry, queued),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	r.files = &files{
		path: o.Config.File, most: int64(o.Config.FileBytes), keep: o.Config.Files,
		header: record.Header{Start: r.start, BlockBytes: o.BlockBytes, Source: "gatewayd"},
	}
	if err := r.files.open(); err != nil {
		return nil, fmt.Errorf("record traffic: %w", err)
	}
	go r.run()
	return r, nil
}

// Tenant hides who asked, so that nothing of a key is kept.
func (r *Recorder) Tenant(key string) string { return r.o.Salt.Name(key) }

// Take hands a request over. It never waits: when the queue is full the request
// is dropped and counted.
func (r *Recorder) Take(e *Entry) {
	n := int64(len(e.Blocks))
	if r.blocks.Add(n) <= queuedBlocks {
		select {
		case r.queue <- e:
			return
		default:
		}
	}
	r.blocks.Add(-n)
	r.dropped.Add(1)
	r.o.Metrics.Recorded(telemetry.RecordDropped)
}

// Close writes what is queued and closes the file, within ctx's time. Requests
// that are handed over later are lost.
func (r *Recorder) Close(ctx context.Context) error {
	r.once.Do(func() { close(r.closing) })
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the record of the traffic is not complete: %d requests were not written: %w", len(r.queue), ctx.Err())
	}
}
