//go:build !race

package socket

import (
	"syscall"
	"unsafe"
)

// call reads into p or writes it, which is not empty.
func call(trap, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR: // once more
		default:
			return 0, errno
		}
	}
}
