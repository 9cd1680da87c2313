package downstream

import "golang.org/x/sys/unix"

// left is what a poll reports of a client that sends no more.
const left = unix.POLLRDHUP
