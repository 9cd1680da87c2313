package worker

import (
	"context"
	"sync"
	"time"

	"gatewayd/benchlab/engine"
)

// job is one request in the engine: the actor reports progress, a handler
// waits for it. A handler that falls behind finds all tokens at once, so a slow
// client holds no memory but its own.
type job struct {
	request engine.Request
	answer  []byte // wordBytes per token
	reason  string // why the answer will end: "stop" or "length"

	arrived, last time.Duration // of the actor, engine time

	mu     sync.Mutex
	tokens int
	cached int
	ended  bool
	err    error
	wake   chan struct{} // one signal is kept
}

// progress is what a handler knows of a job.
type progress struct {
	tokens int // output tokens so far
	cached int // prompt tokens from the prefix cache
	ended  bool
}

func (j *job) setCached(tokens int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cached = tokens
}

func (j *job) advance(tokens int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tokens = tokens
	j.signal()
}

func (j *job) end(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended, j.err = true, err
	j.signal()
}

func (j *job) signal() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

func (j *job) look() (progress, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return progress{tokens: j.tokens, cached: j.cached, ended: j.ended}, j.err
}

// next waits until there are more than seen tokens or the job has ended.
func (j *job) next(ctx context.Context, seen int) (progress, error) {
	for {
		p, err := j.look()
		if err != nil || p.ended || p.tokens > seen {
			return p, err
		}
		select {
		case <-j.wake:
		case <-ctx.Done():
			return p, ctx.Err()
		}
	}
}

// wait waits for the end of the job.
func (j *job) wait(ctx context.Context) (p progress, err error) {
	for !p.ended && err == nil {
		p, err = j.next(ctx, p.tokens)
	}
	return p, err
}
