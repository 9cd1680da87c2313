package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errSlow says that a rate is too high for the machine.
var errSlow = errors.New("all connections were busy for a second")

// slot is a connection of an open load.
type slot struct {
	*client
	request []byte
	due     chan time.Time // when the request was to be sent that it waits for
}

// openLoad sends small requests at random moments (a Poisson process, the same in
// every run), whether or not those before them are answered.
type openLoad struct {
	slots []*slot
	free  chan *slot

	mu     sync.Mutex
	took   []time.Duration
	failed failures
}

// open sends so many requests a second on up to n connections. It returns the time
// of each from the moment it was due until it was answered.
func open(ctx context.Context, c *contender, n int, rate float64, span time.Duration) ([]time.Duration, error) {
	clients, err := dialAll(c.address, n)
	defer closeAll(clients)
	if err != nil {
		return nil, err
	}
	o := &openLoad{free: make(chan *slot, n)}
	var reading sync.WaitGroup
	for i, conn := range clients {
		s := &slot{conn, small(c.address, i), make(chan time.Time, 1)}
		o.slots = append(o.slots, s)
		o.free <- s
		reading.Go(func() { o.read(s) })
	}
	err = o.send(ctx, rate, span)
	for _, s := range o.slots {
		close(s.due)
	}
	if err != nil {
		closeAll(clients)
	}
	reading.Wait()
	if err = errors.Join(err, o.failed.err); err != nil {
		return nil, fmt.Errorf("%s at %.0f requests/s: %w", c.name, rate, err)
	}
	return o.took, nil
}

// read reads the answers on one connection.
func (o *openLoad) read(s *slot) {
	for due := range s.due {
		if _, err := s.receive(); err != nil {
			o.failed.add(err)
			return
		}
		o.mu.Lock()
		o.took = append(o.took, time.Since(due))
		o.mu.Unlock()
		o.free <- s
	}
}

// send sends the requests. It has a thread of its own: timers of the runtime are up
// to a millisecond late. And the kernel has a thread sleep up to 50 µs longer than it asks
// for, unless it asks not to: requests would leave late, and several at once.
func (o *openLoad) send(ctx context.Context, rate float64, span time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("make the sender's timer exact: %w", err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	due := time.Now()
	for end := due.Add(span); due.Before(end) && ctx.Err() == nil; {
		due = due.Add(time.Duration(random.ExpFloat64() / rate * float64(time.Second)))
		for wait := time.Until(due); wait > 0; wait = time.Until(due) {
			pause := syscall.NsecToTimespec(wait.Nanoseconds())
			_ = syscall.Nanosleep(&pause, nil) // a signal ends it early
		}
		s, err := o.next()
		if err != nil {
			return err
		}
		if err := s.SetDeadline(time.Now().Add(ioTimeout)); err != nil {
			return err
		}
		s.due <- due
		if _, err := s.Write(s.request); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// next returns a connection without a request on it.
func (o *openLoad) next() (*slot, error) {
	select {
	case s := <-o.free:
		return s, nil
	default:
	}
	patience := time.NewTimer(time.Second)
	defer patience.Stop()
	select {
	case s := <-o.free:
		return s, nil
	case <-patience.C:
		return nil, errSlow
	}
}
