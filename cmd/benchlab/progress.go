package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// progress shows on a terminal how far a comparison is.
type progress struct {
	ended []atomic.Int64 // requests, by contender
	all   int            // requests of all contenders
	done  chan struct{}
	shown sync.WaitGroup
}

// progress begins to show; elsewhere than on a terminal it shows nothing.
func (p program) progress(contenders, requests int) *progress {
	b := &progress{ended: make([]atomic.Int64, contenders), all: contenders * requests, done: make(chan struct{})}
	if p.terminal {
		b.shown.Go(func() { b.show(p.stderr) })
	}
	return b
}

func (b *progress) show(w io.Writer) {
	const period = 200 * time.Millisecond
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			n := 0
			for i := range b.ended {
				n += int(b.ended[i].Load())
			}
			fmt.Fprintf(w, "\rsimulated %d of %d requests (%d %%) ", n, b.all, 100*n/b.all)
		case <-b.done:
			fmt.Fprint(w, "\r\033[K")
			return
		}
	}
}

// close takes the line away.
func (b *progress) close() {
	close(b.done)
	b.shown.Wait()
}
