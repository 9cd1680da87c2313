//go:build !linux

package socket

import "net"

// New returns the connection as it is.
func New(c net.Conn) net.Conn { return c }

// Quiet reports true: nothing is known.
func Quiet(net.Conn) bool { return true }

// Before reports false: nothing is called.
func Before(net.Conn, func()) bool { return false }
