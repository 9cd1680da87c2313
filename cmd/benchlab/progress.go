package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// progress shows how far a run is and how long it will still take: on a terminal
// as a line that changes, elsewhere as a line every half minute.
type progress struct {
	all   int // requests that will be simulated; more may come
	ended atomic.Int64
	more  atomic.Int64 // beyond all
	done  chan struct{}
	shown sync.WaitGroup
}

const (
	terminalPeriod = 200 * time.Millisecond
	sparsePeriod   = 30 * time.Second
)

func (p program) progress(requests int) *progress {
	b := &progress{all: requests, done: make(chan struct{})}
	b.shown.Go(func() { b.show(p.stderr, p.terminal) })
	return b
}

func (b *progress) show(w io.Writer, terminal bool) {
	period, began := sparsePeriod, time.Now()
	if terminal {
		period = terminalPeriod
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if line := b.line(time.Since(began)); terminal {
				fmt.Fprintf(w, "\r\033[K%s", line)
			} else {
				fmt.Fprintln(w, line)
			}
		case <-b.done:
			if terminal {
				fmt.Fprint(w, "\r\033[K")
			}
			return
		}
	}
}

// line says how far it is after so much time.
func (b *progress) line(took time.Duration) string {
	ended, all := b.ended.Load(), int64(b.all)+b.more.Load()
	share := min(1, float64(ended)/float64(max(1, all)))
	const width = 20
	bar := make([]byte, width)
	for i := range bar {
		bar[i] = '.'
		if float64(i) < share*width {
			bar[i] = '#'
		}
	}
	left := "?"
	if share > 0 {
		left = time.Duration(float64(took) * (1 - share) / share).Round(time.Second).String()
	}
	return fmt.Sprintf("[%s] %3.0f %%  %d of %d requests simulated, %s left", bar, 100*share, ended, all, left)
}

// part returns what one simulation reports its ended requests to.
func (b *progress) part() func(ended int) {
	before := 0
	return func(ended int) {
		b.ended.Add(int64(ended - before))
		before = ended
	}
}

// expect adds requests that were not known of before.
func (b *progress) expect(requests int) { b.more.Add(int64(requests)) }

// close takes the line away.
func (b *progress) close() {
	close(b.done)
	b.shown.Wait()
}
