package main

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// streams opens n streams within one gap, so that their events do not come all at
// once, and reads them to their end. It returns the events that came.
func streams(c *contender, n, events int, gap time.Duration) (int64, error) {
	clients, err := dialAll(c.address, n)
	defer closeAll(clients)
	if err != nil {
		return 0, err
	}
	var got atomic.Int64
	var failed failures
	var running sync.WaitGroup
	began := time.Now()
	for i, conn := range clients {
		time.Sleep(time.Until(began.Add(gap * time.Duration(i) / time.Duration(n))))
		running.Go(func() {
			count, err := conn.exchange(streamed(c.address, i, events, gap))
			got.Add(int64(count))
			if err != nil {
				failed.add(err)
			}
		})
	}
	running.Wait()
	return got.Load(), failed.err
}

// firsts sends streamed requests one after the other and returns the time until the
// first event of each.
func firsts(c *contender, n int) ([]time.Duration, error) {
	conn, err := dial(c.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	text := streamed(c.address, 0, 2, time.Millisecond)
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		if err := conn.begin(text); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
		for end := false; !end; {
			if _, end, err = conn.chunk(); err != nil {
				return nil, err
			}
		}
	}
	return took, nil
}

// hold opens n streams, waits for the first event of each, and calls look while all
// of them are idle.
func hold(c *contender, n int, look func() error) error {
	clients := make([]*client, n)
	defer func() {
		for _, conn := range clients {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	var failed failures
	var opening sync.WaitGroup
	const openers = 32
	for k := range openers {
		opening.Go(func() {
			for i := k; i < n; i += openers {
				conn, err := dial(c.address)
				if err != nil {
					failed.add(err)
					return
				}
				clients[i] = conn
				if err := conn.begin(streamed(c.address, i, 2, ioTimeout)); err != nil {
					failed.add(err)
					return
				}
			}
		})
	}
	opening.Wait()
	if failed.err != nil {
		return failed.err
	}
	return look()
}

// begin sends a request and reads the first event of the answer.
func (c *client) begin(request []byte) error {
	if err := c.SetDeadline(time.Now().Add(ioTimeout)); err != nil {
		return err
	}
	if _, err := c.Write(request); err != nil {
		return err
	}
	if _, err := c.head(); err != nil {
		return err
	}
	for {
		n, end, err := c.chunk()
		switch {
		case err != nil:
			return err
		case n > 0:
			return nil
		case end:
			return errors.New("the stream ended without an event")
		}
	}
}
