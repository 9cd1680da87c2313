package redis

import (
	"context"
	"fmt"
)

// Large values are read in parts of this many bytes, so that other clients of
// the server wait little. Several values are begun in one exchange.
const (
	partBytes = 256 << 10
	together  = 16
)

// shape is what a kind of value looks like.
type shape struct{ lineBytes, maxBytes int }

// read returns a value of which the first part was read, without its line, or
// nil if it is absent. A value that is replaced meanwhile is read again. The
// numbers of its line are put into numbers.
func (s *Store) read(ctx context.Context, key string, first part, like shape, numbers []uint64) ([]byte, error) {
	const tries = 4
	for range tries {
		if first.err != nil || first.text == "" {
			return nil, first.err
		}
		value, err := s.rest(ctx, key, first.text, like)
		if err != nil {
			return nil, err
		}
		if len(first.text) == partBytes {
			line, err := s.parts(ctx, []string{key}, like.lineBytes)
			if err != nil {
				return nil, fmt.Errorf("redis: read key %q: %w", key, err)
			}
			if line[0].text != first.text[:like.lineBytes] {
				if first, err = s.first(ctx, key); err != nil {
					return nil, err
				}
				continue
			}
		}
		return cut(key, value, numbers)
	}
	return nil, fmt.Errorf("redis: value of key %q was replaced %d times while it was read; it is ignored", key, tries)
}

// rest returns the first part of a value and all behind it.
func (s *Store) rest(ctx context.Context, key, first string, like shape) ([]byte, error) {
	texts, size := []string{first}, len(first)
	for last := len(first); last == partBytes && size <= like.lineBytes+like.maxBytes; size += last {
		var text string
		err := s.call(ctx, s.timeout, func(ctx context.Context) (err error) {
			text, err = s.client.GetRange(ctx, key, int64(size), int64(size+partBytes-1)).Result()
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("redis: read key %q: %w", key, err)
		}
		texts, last = append(texts, text), len(text)
	}
	if size > like.lineBytes+like.maxBytes {
		return nil, wrong(key, "is too large")
	}
	value := make([]byte, 0, size)
	for _, text := range texts {
		value = append(value, text...)
	}
	return value, nil
}

// first reads the first part of a value.
func (s *Store) first(ctx context.Context, key string) (part, error) {
	found, err := s.parts(ctx, []string{key}, partBytes)
	if err != nil {
		return part{}, fmt.Errorf("redis: read key %q: %w", key, err)
	}
	return found[0], nil
}
