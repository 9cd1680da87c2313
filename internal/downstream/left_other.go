//go:build !linux

package downstream

import "golang.org/x/sys/unix"

// left is what a poll reports of a client that has left.
const left = unix.POLLHUP
