package redistest

import "syscall"

// attributes make the kernel end the server if the test's process dies.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
