package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// lane runs calls that outlive their callers' deadlines: a late answer is
// dropped, and its connection stays. It bounds the calls under way.
type lane struct {
	slots  chan struct{}
	closed chan struct{}
}

func newLane(slots int) *lane {
	return &lane{slots: make(chan struct{}, slots), closed: make(chan struct{})}
}

// ride runs do on a lane, for at most limit, and waits for it at most as long
// as ctx. What do uses must not belong to the caller.
func ride[T any](ctx context.Context, l *lane, limit time.Duration, do func(context.Context) (T, error)) (T, error) {
	var none T
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return none, goredis.ErrClosed
	case <-ctx.Done():
		return none, ctx.Err()
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() { <-l.slots }()
		long, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		value, err := do(long)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// drain refuses new calls and waits for those under way. It is called once.
func (l *lane) drain() {
	close(l.closed)
	for range cap(l.slots) {
		l.slots <- struct{}{}
	}
}
