package plugin

import "syscall"

// sysProcAttr puts a process into a group of its own and has the kernel tell it
// when its host dies; Serve ignores that signal, because it ends in good order
// at the end of its standard input, but a plugin in another language need not.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
