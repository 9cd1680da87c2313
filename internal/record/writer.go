package record

import (
	"time"

	"gatewayd/internal/telemetry"
)

// run writes until Close, then what is still queued.
func (r *Recorder) run() {
	defer close(r.done)
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	for {
		select {
		case e := <-r.queue:
			r.write(e)
		case <-flush.C:
			r.check(r.files.flush())
		case <-r.closing:
			r.drain()
			r.check(r.files.close())
			return
		}
	}
}

// drain writes what was handed over before Close.
func (r *Recorder) drain() {
	for {
		select {
		case e := <-r.queue:
			r.write(e)
		default:
			return
		}
	}
}

// write writes one request, and how many before it could not be queued.
func (r *Recorder) write(e *Entry) {
	r.blocks.Add(-int64(len(e.Blocks)))
	if r.files.broken {
		r.o.Metrics.Recorded(telemetry.RecordFailed)
		return
	}
	dropped := r.dropped.Swap(0)
	err := r.files.write(r.line(e, int(dropped)))
	if err != nil {
		r.dropped.Add(dropped)
		r.o.Metrics.Recorded(telemetry.RecordFailed)
		r.check(err)
		return
	}
	r.o.Metrics.Recorded(telemetry.RecordWritten)
}

// check says once that nothing more is written.
func (r *Recorder) check(err error) {
	if err == nil || r.files.broken {
		return
	}
	r.files.broken = true
	r.o.Logger.Error("traffic is not recorded any more, until the gateway is started again", "file", r.o.Config.File, "error", err)
}
