package main

import (
	"os"
	"runtime"
)

// heapFloor is how much a gateway allocates at least between two collections of
// garbage, in bytes. What it holds is often less than a hundredth of that, and the
// collector, which waits until as much again was allocated, would never rest.
const heapFloor = 64 << 20

// raiseHeap has the collector count heapFloor bytes that are never touched, and so
// take no memory, as in use until the returned function is called. It does nothing
// if the environment says how to collect.
func raiseHeap(getenv func(string) string) (end func()) {
	if getenv == nil {
		getenv = os.Getenv
	}
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	floor := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(floor) }
}
