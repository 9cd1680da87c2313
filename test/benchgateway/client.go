package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strconv"
	"time"
)

// readBuffer is what a connection of the generator reads at once, in bytes.
const readBuffer = 4 << 10

// dialTimeout bounds the making of a connection, ioTimeout one exchange on it.
const (
	dialTimeout = 10 * time.Second
	ioTimeout   = time.Minute
)

// client is one kept-alive connection of the generator. It does as little as it
// can, since it shares the machine with what it measures. It is for one goroutine
// that reads and one that writes.
type client struct {
	net.Conn
	in   *bufio.Reader
	last byte // of a stream
}

func dial(address string) (*client, error) {
	c, err := net.DialTimeout("tcp", address, dialTimeout)
	if err != nil {
		return nil, err
	}
	return &client{Conn: c, in: bufio.NewReaderSize(c, readBuffer)}, nil
}

// exchange sends a request and reads the whole answer. It returns the number of
// server-sent events in it.
func (c *client) exchange(request []byte) (events int, err error) {
	if err := c.SetDeadline(time.Now().Add(ioTimeout)); err != nil {
		return 0, err
	}
	if _, err := c.Write(request); err != nil {
		return 0, err
	}
	return c.receive()
}

// receive reads one answer.
func (c *client) receive() (events int, err error) {
	length, err := c.head()
	if err != nil {
		return 0, err
	}
	if length >= 0 {
		_, err := c.in.Discard(length)
		return 0, err
	}
	for {
		n, end, err := c.chunk()
		events += n
		if end || err != nil {
			return events, err
		}
	}
}

// head reads the head of an answer and returns the length of its body, -1 if that
// comes in chunks. Any status but 200 is an error.
func (c *client) head() (length int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		status := string(bytes.TrimSpace(line))
		rest, _ := c.in.Peek(min(c.in.Buffered(), 600))
		return 0, fmt.Errorf("the answer is %q, not 200: %s", status, rest)
	}
	chunked := false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case is(name, "Content-Length"):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, err
			}
		case is(name, "Transfer-Encoding"):
			chunked = true
		}
	}
	if chunked {
		return -1, nil
	}
	return length, nil
}

// chunk reads one chunk and counts the ends of events in it; end says that it was
// the last.
func (c *client) chunk() (events int, end bool, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, false, err
	}
	size, err := strconv.ParseUint(string(bytes.TrimRight(line, "\r\n")), 16, 31)
	if err != nil {
		return 0, false, fmt.Errorf("a chunk begins with %q", line)
	}
	left := int(size)
	for left > 0 {
		if _, err := c.in.Peek(1); err != nil {
			return events, false, err
		}
		b, err := c.in.Peek(min(left, c.in.Buffered()))
		if err != nil {
			return events, false, err
		}
		for _, x := range b {
			if x == '\n' && c.last == '\n' {
				events++
			}
			c.last = x
		}
		left -= len(b)
		if _, err := c.in.Discard(len(b)); err != nil {
			return events, false, err
		}
	}
	_, err = c.in.Discard(2) // the end of the chunk's line
	return events, size == 0, err
}
