//go:build race

package socket

import "syscall"

// call is the same as without the race detector, which takes what passes through a
// system call that it knows of for an order of events.
func call(trap, fd uintptr, p []byte) (n int, errno syscall.Errno) {
	do := syscall.Write
	if trap == syscall.SYS_READ {
		do = syscall.Read
	}
	for {
		n, err := do(int(fd), p)
		if err == nil {
			return n, 0
		}
		if err != syscall.EINTR { //nolint:errorlint // it is not wrapped
			return 0, err.(syscall.Errno) //nolint:errorlint // nor is this
		}
	}
}
