package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"gatewayd/state"
)

// circuit keeps the store's health, and spares Facts and Write a server that
// does not answer: after limit failures in a row they are refused for a pause,
// then one may try, and so on until one succeeds.
type circuit struct {
	limit int
	pause time.Duration
	now   func() time.Time

	mu    sync.Mutex
	run   int       // failures of Facts and Write in a row
	until time.Time // refuse until then, while run >= limit
	seen  state.Health
}

// allow refuses a call while the store is paused, and one that has no time.
func (c *circuit) allow(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run < c.limit {
		return nil
	}
	now := c.now()
	if now.Before(c.until) {
		c.seen.Skipped++
		return fmt.Errorf("redis: not asked after %d failures in a row, the last being %v: %w", c.run, c.seen.Err, state.ErrUnavailable)
	}
	c.until = now.Add(c.pause)
	return nil
}

// note records how a call went that allow let pass.
func (c *circuit) note(ctx context.Context, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.judge(ctx, err) {
	case answered:
		c.run = 0
	case failed:
		c.run++
		c.until = c.now().Add(c.pause)
	}
}

// watch records how any other call went.
func (c *circuit) watch(ctx context.Context, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.judge(ctx, err)
}

func (c *circuit) health() state.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.seen
	h.Paused = c.run >= c.limit
	return h
}

type verdict uint8

const (
	unknown verdict = iota // the caller gave up
	answered
	failed
)

func (c *circuit) judge(ctx context.Context, err error) verdict {
	switch {
	case err == nil || errors.Is(err, goredis.Nil) || wrongType(err):
		c.seen.Up = true
		return answered
	case errors.Is(ctx.Err(), context.Canceled):
		return unknown
	}
	c.seen.Up, c.seen.Err = false, err
	c.seen.Failed++
	return failed
}

// wrongType reports whether the server refused to read a foreign value, itself
// or in a script.
func wrongType(err error) bool {
	var e goredis.Error
	return errors.As(err, &e) && strings.Contains(e.Error(), "WRONGTYPE ")
}
