package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// call makes one exchange with the server, for at most limit.
func (s *Store) call(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	short, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(short)
	s.circuit.watch(ctx, err)
	return err
}

// run makes one exchange that is a script.
func (s *Store) run(ctx context.Context, script *goredis.Script, keys []string, args ...any) (answer []string, err error) {
	err = s.call(ctx, s.timeout, func(ctx context.Context) (err error) {
		answer, err = script.Run(ctx, s.client, keys, args...).StringSlice()
		return err
	})
	if wrongType(err) {
		return nil, wrong(keys[0], "has another type")
	}
	return answer, err
}

// set makes one exchange that writes a value of any size.
func (s *Store) set(ctx context.Context, key, first string, body []byte, ttl time.Duration) error {
	const bytesPerSecond = 16 << 20
	value := append(append(make([]byte, 0, len(first)+len(body)), first...), body...)
	more := time.Duration(len(value)) * time.Second / bytesPerSecond
	return s.call(ctx, s.timeout+more, func(ctx context.Context) error {
		return s.client.Set(ctx, key, value, whole(ttl)).Err()
	})
}

// whole rounds a time to live up to the server's unit.
func whole(ttl time.Duration) time.Duration {
	return (ttl + time.Millisecond - 1).Truncate(time.Millisecond)
}

// part is the first bytes of a value, or why it cannot be read.
type part struct {
	text string
	err  error
}

// parts reads the first n bytes of each key in one exchange; "" if it is absent.
func (s *Store) parts(ctx context.Context, keys []string, n int) (found []part, err error) {
	err = s.call(ctx, s.timeout, func(ctx context.Context) (err error) {
		found, err = s.ask(ctx, keys, n)
		return err
	})
	return found, err
}

func (s *Store) ask(ctx context.Context, keys []string, n int) ([]part, error) {
	pipe := s.client.Pipeline()
	for _, k := range keys {
		pipe.GetRange(ctx, k, 0, int64(n)-1)
	}
	commands, _ := pipe.Exec(ctx) // its error is that of one of the commands
	found := make([]part, len(keys))
	for i, c := range commands {
		text, err := c.(*goredis.StringCmd).Result()
		if wrongType(err) {
			err, found[i].err = nil, wrong(keys[i], "has another type")
		}
		if err != nil {
			return nil, err
		}
		found[i].text = text
	}
	return found, nil
}
