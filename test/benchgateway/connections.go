package main

import "sync"

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
