package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd header can ask for.
const maxWindow = 64 << 20

// unpack looks at the first bytes and puts the right decompressor in front. done
// releases it.
func unpack(r io.Reader) (plain io.Reader, done func(), err error) {
	in := bufio.NewReader(r)
	magic, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("reading: %w", err)
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, fmt.Errorf("gzip header: %w", err)
		}
		return z, func() {}, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("zstd header: %w", err)
		}
		return z, z.Close, nil
	}
	return in, func() {}, nil
}

// counted counts the bytes that were read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// capped fails, rather than ends, once more than left bytes were read.
type capped struct {
	r    io.Reader
	left int64
}

var errTooLarge = errors.New("input is larger than the limit once unpacked")

func (c *capped) Read(p []byte) (int, error) {
	if c.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return n, errTooLarge
	}
	return n, err
}
