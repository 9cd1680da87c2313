package main

import (
	"sync"
	"sync/atomic"
)

// dialAll makes so many connections. They must be closed, also after an error.
func dialAll(address string, n int) ([]*client, error) {
	clients := make([]*client, 0, n)
	for range n {
		c, err := dial(address)
		if err != nil {
			return clients, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

func closeAll(clients []*client) {
	for _, c := range clients {
		c.Close()
	}
}

// failures keeps the first of the errors of many.
type failures struct {
	once sync.Once
	err  error
}

func (f *failures) add(err error) { f.once.Do(func() { f.err = err }) }

// closed sends requests on n connections, each as soon as the one before it was
// answered, until stop. done counts the answers as they come. It returns a function
// that waits for the last answers.
func closed(c *contender, n int, text func(host string, i int) []byte, stop <-chan struct{}, done *atomic.Int64) (wait func() error, err error) {
	clients, err := dialAll(c.address, n)
	if err != nil {
		closeAll(clients)
		return nil, err
	}
	var failed failures
	var running sync.WaitGroup
	for i, conn := range clients {
		running.Go(func() {
			defer conn.Close()
			for request := text(c.address, i); ; done.Add(1) {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := conn.exchange(request); err != nil {
					failed.add(err)
					return
				}
			}
		})
	}
	return func() error { running.Wait(); return failed.err }, nil
}
