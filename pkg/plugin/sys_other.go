//go:build unix && !linux

package plugin

import "syscall"

// sysProcAttr puts a process into a group of its own.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
